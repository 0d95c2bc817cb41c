package runtime

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
)

// FuzzReference: a name, a partial or a whole ARN means one function, and is what it is made of.
func FuzzReference(f *testing.F) {
	for _, seed := range []string{
		"AuthFunction", "arn:aws:lambda:us-east-1:123456789012:function:AuthFunction:$LATEST", "123456789012:function:f", "function:f:live", "us-gov-east-1:123456789012:function:f",
		"f:", ":f", "a/b", "f\n", strings.Repeat("x", 171), "arn:aws:lambda:us-iso-east-1:f",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, ok := parseReference(text)
		if !ok {
			return
		}
		if r.name == "" || len(text) > 170 || !strings.Contains(text, r.name) || strings.Trim(r.account, "0123456789") != "" || strings.ContainsAny(r.name+r.qualifier+r.region, ":/ \n") {
			t.Fatalf("%q is %+v", text, r)
		}
		whole := "arn:aws:lambda:"
		for _, part := range []string{r.region, r.account} {
			if part != "" {
				whole += part + ":"
			}
		}
		whole += "function:" + r.name
		if r.qualifier != "" {
			whole += ":" + r.qualifier
		}
		if again, ok := parseReference(whole); len(whole) <= 170 && (!ok || again != r) {
			t.Fatalf("%q is %+v, and %q is %+v", text, r, whole, again)
		}
	})
}

// FuzzClientContext: what a function is handed in a header is one line, and a JSON object.
func FuzzClientContext(f *testing.F) {
	for _, seed := range []string{`{"a":"b"}`, "{\n\"a\": \"\\n\" }", `[]`, `null`, `{"a":1,"a":2}`, "{\"a\":\"\xff\"}"} {
		f.Add(base64.StdEncoding.EncodeToString([]byte(seed)))
	}
	f.Add("!")
	f.Fuzz(func(t *testing.T, header string) {
		text, err := clientContext(header)
		if err != nil || header == "" {
			return
		}
		var object map[string]any
		if json.Unmarshal([]byte(text), &object) != nil || strings.ContainsAny(text, "\r\n\x00") {
			t.Fatalf("%q is handed over as %q", header, text)
		}
	})
}

// FuzzREST asks for functions that there are not, in every way: each answer is an error in the API's own form.
func FuzzREST(f *testing.F) {
	f.Add("POST", "/2015-03-31/functions/f/invocations", "Qualifier=%24LATEST", "X-Amz-Invocation-Type", "Event", `{}`)
	f.Add("GET", "/2015-03-31/functions/", "Marker=Zg==&MaxItems=1", "", "", ``)
	f.Add("GET", "/2015-03-31/functions", "MaxItems=-1", "", "", ``)
	f.Add("GET", "/2019-09-30/functions/%zz/concurrency", "", "", "", ``)
	f.Add("POST", "/2021-11-15/functions/a%2Fb/response-streaming-invocations", "", "X-Amz-Client-Context", "!", `x`)
	r, err := New(Options{Now: time.Now, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		f.Fatal(err)
	}
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

// FuzzReported: whatever a function reports as its error is passed on as it is.
func FuzzReported(f *testing.F) {
	for _, seed := range []string{`{"errorType":"T","errorMessage":"m","stackTrace":[]}`, `[]`, `"x"`, `{"errorType":7}`, "\xff", ``} {
		f.Add("", []byte(seed))
		f.Add("Function.Own", []byte(seed))
	}
	f.Fuzz(func(t *testing.T, header string, payload []byte) {
		e := reported(header, payload)
		if len(payload) > 0 && string(e.Payload) != string(payload) || header != "" && e.Type != header || len(payload) == 0 && !json.Valid(e.Payload) {
			t.Fatalf("%q, %q: %+v", header, payload, e)
		}
	})
}
