package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
)

// invoke prints the response on stdout, and returns an error for a refusal and for an error of the function.
func TestInvoke(t *testing.T) {
	t.Parallel()
	event := filepath.Join(t.TempDir(), "event.json")
	if err := os.WriteFile(event, []byte(`{"a":1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		status   int
		kind     string // of a function error
		body     string
		out, err string
	}{
		"response":       {200, "", `{"ok":true}`, "{\"ok\":true}\n", ""},
		"response line":  {200, "", "{\"ok\":true}\n", "{\"ok\":true}\n", ""},
		"function error": {200, "Unhandled", `{"errorMessage":"x"}`, "{\"errorMessage\":\"x\"}\n", "F: function error: Unhandled"},
		"no function":    {404, "", `{"Type":"User","Message":"Function not found: F"}`, "", "F: 404 Not Found: Function not found: F"},
		"not JSON":       {400, "", `{"Type":"User","message":"Could not parse request body into json"}`, "", "F: 400 Bad Request: Could not parse request body into json"},
		"another server": {502, "", "<html>\n", "<html>\n", "F: 502 Bad Gateway"},
		"empty response": {503, "", "", "", "F: 503 Service Unavailable"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var received string
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var got bytes.Buffer
				_, _ = got.ReadFrom(r.Body)
				received = r.Method + " " + r.URL.Path + " " + got.String()
				if tc.kind != "" {
					w.Header().Set("X-Amz-Function-Error", tc.kind)
				}
				w.WriteHeader(tc.status)
				_, _ = w.Write([]byte(tc.body))
			}))
			defer server.Close()
			var stdout, stderr bytes.Buffer
			err := invoke(t.Context(), []string{"-endpoint", server.URL, "F", event}, &stdout, &stderr)
			if message(err) != tc.err || stdout.String() != tc.out || stderr.Len() > 0 {
				t.Errorf("%v, %q, %q, want %q, %q", err, &stdout, &stderr, tc.err, tc.out)
			}
			if want := `POST /2015-03-31/functions/F/invocations {"a":1}`; received != want {
				t.Errorf("the server received %s, want %s", received, want)
			}
		})
	}
}
