package runtime

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
)

// FuzzREST requests functions that do not exist: each response is an error in JSON.
func FuzzREST(f *testing.F) {
	f.Add("POST", "/2015-03-31/functions/f/invocations", "Qualifier=%24LATEST", "X-Amz-Invocation-Type", "Event", `{}`)
	f.Add("GET", "/2015-03-31/functions/", "", "", "", ``)
	f.Add("GET", "/2015-03-31/functions/%zz/configuration", "", "", "", ``)
	f.Add("POST", "/2015-03-31/functions/a%2Fb/invocations", "", "", "", `x`)
	r := New(Options{Now: time.Now, Logger: slog.New(slog.DiscardHandler)})
	f.Cleanup(func() { _ = r.Close(context.Background()) })
	f.Fuzz(func(t *testing.T, method, path, query, header, value, body string) {
		req := (&http.Request{
			Method: method, URL: &url.URL{Path: path, RawQuery: query}, Header: http.Header{http.CanonicalHeaderKey(header): {value}}, Body: http.NoBody,
		}).WithContext(t.Context())
		if body != "" {
			req = httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(body))
			req.Method, req.URL.Path, req.URL.RawQuery = method, path, query
			req.Header.Set(header, value)
		}
		w := httptest.NewRecorder()
		r.ServeHTTP(w, req)
		if w.Code != http.StatusOK && w.Code < 400 || w.Code >= http.StatusInternalServerError || !json.Valid(w.Body.Bytes()) {
			t.Fatalf("%s %s?%s: %d %s", method, path, query, w.Code, w.Body)
		}
	})
}

// FuzzReported checks that the error document of a function is passed on unchanged.
func FuzzReported(f *testing.F) {
	for _, seed := range []string{`{"errorType":"T","errorMessage":"m","stackTrace":[]}`, `[]`, `"x"`, `{"errorType":7}`, "\xff", ``} {
		f.Add("", []byte(seed))
		f.Add("Function.Own", []byte(seed))
	}
	f.Fuzz(func(t *testing.T, header string, payload []byte) {
		e := reportedError(header, payload)
		if len(payload) > 0 && string(e.Payload) != string(payload) || header != "" && e.Type != header || len(payload) == 0 && !json.Valid(e.Payload) {
			t.Fatalf("%q, %q: %+v", header, payload, e)
		}
	})
}
