package parallel

import (
	"encoding/binary"
	"strings"
	"testing"
)

// A length that no checkpoint has is an error, and nothing is allocated for it. Without a bound the test has no memory.
func TestBroadcastHasABound(t *testing.T) {
	for _, n := range []uint64{maxMessage + 1, 1 << 63} {
		groups := Local(2)
		if err := groups[0].broadcast(binary.LittleEndian.AppendUint64(nil, n)); err != nil {
			t.Fatal(err)
		}
		if _, err := groups[1].Broadcast(nil); err == nil || !strings.Contains(err.Error(), "at most 274877906944 are accepted") {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}
