package ut_test

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"

	ut "universal-transformer"
)

// service answers the lines of a request's body, each with a line. Requests that arrive together are decoded together.
func service(model *ut.Model) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		lines := strings.Split(strings.TrimSuffix(string(body), "\n"), "\n")
		answers, err := model.Decode(r.Context(), lines, ut.DecodeOptions{MaxSource: 1000})
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		for i, a := range answers {
			if a.Err != nil {
				http.Error(w, fmt.Sprintf("line %d: %v", i+1, a.Err), http.StatusUnprocessableEntity)
				return
			}
			if len(a.Unknown) > 0 { // read as <unknown>
				w.Header().Add("X-Unknown", fmt.Sprintf("line %d: %+q", i+1, a.Unknown))
			}
		}
		for _, a := range answers {
			fmt.Fprintln(w, a.Text)
		}
	})
}

// A model behind a web server. One that stays up has http.ListenAndServe in place of the test server.
func Example_service() {
	model, err := ut.Load(copier, ut.LoadOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer model.Close()
	server := httptest.NewServer(service(model))
	defer server.Close()

	response, err := http.Post(server.URL, "text/plain", strings.NewReader("31\n2026\n"))
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	if _, err := io.Copy(os.Stdout, response.Body); err != nil {
		log.Fatal(err)
	}
	// Output:
	// 31
	// 2026
}
