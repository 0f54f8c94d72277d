//go:build !unix

package regularfile_test

import "errors"

func makePipe(string) error { return errors.ErrUnsupported }
