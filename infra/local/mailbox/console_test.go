package mailbox_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/google/go-cmp/cmp"

	"devplatform/infra/local/datafolder"
	"devplatform/infra/local/mailbox"
)

// get sends a request to the console, with headers in pairs of name and value.
func (f *fixture) get(t *testing.T, method, path string, header ...string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, f.console.URL+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, string(body)
}

// mails returns the mails to an address, or all mails for "".
func (f *fixture) mails(t *testing.T, to string) []mailbox.Mail {
	t.Helper()
	path := "/mail"
	if to != "" {
		path += "?to=" + url.QueryEscape(to)
	}
	response, body := f.get(t, http.MethodGet, path)
	var list struct{ Mails []mailbox.Mail }
	err := json.Unmarshal([]byte(body), &list)
	if err != nil || response.StatusCode != http.StatusOK || list.Mails == nil {
		t.Fatalf("%s: %d %s, error %v", path, response.StatusCode, body, err)
	}
	return list.Mails
}

func TestMails(t *testing.T) {
	t.Parallel()
	f := open(t, nil)
	const text = "Confirm: http://localhost:3000/confirm#token=a_b-c.\n\n  ABCD-2345\n\n(https://example.com/x?y=z)\nPASSWORD\n"
	first := f.send(t, "ada@example.com", "Grüße", text, `<a href="http://ignored.example/">`)
	second := f.send(t, "Ada <Ada@Example.com>", "Only HTML", "", `<p>ABCD2345<a href='https://example.com/?a=1&amp;b'>x</a>`)
	f.send(t, "grace@example.com", "Hi", "text", "")
	code := "ABCD2345"
	want := []mailbox.Mail{{
		ID: second, To: "Ada@Example.com", From: "Service <mail@localhost>", Subject: "Only HTML",
		HTML:  `<p>ABCD2345<a href='https://example.com/?a=1&amp;b'>x</a>`,
		Links: []string{"https://example.com/?a=1&b"}, SentAt: "2026-01-31T08:15:30.120Z",
	}, {
		ID: first, To: "ada@example.com", From: "Service <mail@localhost>", Subject: "Grüße", Text: text,
		HTML: `<a href="http://ignored.example/">`, Code: &code, SentAt: "2026-01-31T08:15:30.120Z",
		Links: []string{"http://localhost:3000/confirm#token=a_b-c", "https://example.com/x?y=z"},
	}}
	if diff := cmp.Diff(want, f.mails(t, "ADA@example.com")); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if all := f.mails(t, ""); len(all) != 3 || all[0].Subject != "Hi" || all[0].Links == nil {
		t.Errorf("got %+v, want all mails", all)
	}
	if none := f.mails(t, "nobody@example.com"); len(none) > 0 {
		t.Errorf("got %+v, want none", none)
	}
	line, _, _ := strings.Cut(f.log.String(), "\n")
	if want := `mail to ada@example.com: \"Grüße\" http://localhost:3000/confirm#token=a_b-c https://example.com/x?y=z`; !strings.Contains(line, want) {
		t.Errorf("got the line %s, want %s", line, want)
	}
}

func TestCodes(t *testing.T) {
	t.Parallel()
	f := open(t, nil)
	for text, want := range map[string]string{
		"ABCD2345": "ABCD2345", "a\r\n0000 ZZZZ\r\nb": "0000ZZZZ", "Or enter this code: ABCD2345\n.": "ABCD2345", "Code ABCD2345": "", "see: ABCD2345.": "", "ABCD234": "", "ABCD23456": "",
		"ABCDI345": "", "abcd2345": "",
	} {
		f.send(t, "ada@example.com", "s", text, "")
		got := f.mails(t, "")[0].Code
		if want == "" && got != nil || want != "" && (got == nil || *got != want) {
			t.Errorf("%q: got the code %v, want %q", text, got, want)
		}
	}
}

// The newest 500 mails are kept, also after the folder was closed.
func TestSurvivesReopening(t *testing.T) {
	t.Parallel()
	const sent, kept = 503, 500
	dir := filepath.Join(t.TempDir(), "data")
	folder := openFolder(t, dir)
	store, err := mailbox.Open(mailbox.Options{Folder: folder})
	if err != nil {
		t.Fatal(err)
	}
	for i := range sent - 1 {
		if err := store.Add(mailbox.Mail{Subject: fmt.Sprint(i)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := folder.Close(); err != nil {
		t.Fatal(err)
	}
	f := open(t, openFolder(t, dir))
	f.send(t, "ada@example.com", fmt.Sprint(sent-1), "text", "")
	mails := f.mails(t, "")
	if len(mails) != kept {
		t.Fatalf("got %d mails, want %d", len(mails), kept)
	}
	for i, m := range mails {
		if m.Subject != fmt.Sprint(sent-1-i) {
			t.Fatalf("mail %d is %s, want %d", i, m.Subject, sent-1-i)
		}
	}
}

func TestDamagedMail(t *testing.T) {
	t.Parallel()
	folder := openFolder(t, filepath.Join(t.TempDir(), "data"))
	set := func(key ...byte) {
		err := folder.Update(func(batch *pebble.Batch) error { return batch.Set(key, []byte("{"), nil) })
		if err != nil {
			t.Fatal(err)
		}
	}
	set(datafolder.SpaceMail, 0, 0, 0, 0, 0, 0, 0, 7)
	f := open(t, folder)
	for _, path := range []string{"/", "/mail", "/mail/x"} {
		response, body := f.get(t, http.MethodGet, path)
		if response.StatusCode != http.StatusInternalServerError || !strings.Contains(body, folder.Dir+" is damaged") {
			t.Errorf("%s: got %d %s", path, response.StatusCode, body)
		}
	}
	set(datafolder.SpaceMail, 1)
	if _, err := mailbox.Open(mailbox.Options{Folder: folder}); err == nil || !strings.Contains(err.Error(), folder.Dir+" is damaged") {
		t.Errorf("got the error %v", err)
	}
}

// The page escapes mails. Their HTML is a document without scripts and without an origin, which only the page can
// frame.
func TestPageIsSafe(t *testing.T) {
	t.Parallel()
	f := open(t, nil)
	id := f.send(t, "ada@example.com", `<script>"'`, "<script>text", "<script>html")
	f.send(t, "grace@example.com", "Other", "text", "")
	response, body := f.get(t, http.MethodGet, "/?to=ada%40example.com")
	if response.StatusCode != http.StatusOK || strings.Contains(body, "<script") || strings.Contains(body, "Other") ||
		!strings.Contains(body, `src="/mail/`+id+`"`) || !strings.Contains(body, ` sandbox="allow-popups `) {
		t.Errorf("got %d %s", response.StatusCode, body)
	}
	policies := func(r *http.Response) []string {
		return strings.Split(r.Header.Get("Content-Security-Policy"), "; ")
	}
	if got := policies(response); !slices.Contains(got, "default-src 'none'") || !slices.Contains(got, "frame-ancestors 'none'") {
		t.Errorf("the page has the policies %v", got)
	}
	response, body = f.get(t, http.MethodGet, "/mail/"+id)
	got := policies(response)
	if !strings.HasSuffix(body, "<script>html") || !strings.HasPrefix(got[0], "sandbox allow-popups") ||
		!slices.Contains(got, "default-src 'none'") || !slices.Contains(got, "frame-ancestors 'self'") {
		t.Errorf("the mail %s has the policies %v", body, got)
	}
	if response, _ := f.get(t, http.MethodGet, "/mail/other"); response.StatusCode != http.StatusNotFound {
		t.Errorf("another ID: got %d", response.StatusCode)
	}
}

// The console refuses unsafe requests of other origins, and has no CORS headers.
func TestOrigins(t *testing.T) {
	t.Parallel()
	f := open(t, nil)
	for _, tc := range []struct {
		method, path string
		header       []string
		want         int
	}{
		{"GET", "/mail", []string{"Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site"}, http.StatusOK},
		{"POST", "/mail", []string{"Origin", "https://evil.example"}, http.StatusForbidden},
		{"DELETE", "/", []string{"Sec-Fetch-Site", "same-site"}, http.StatusForbidden},
		{"POST", "/mail", []string{"Sec-Fetch-Site", "same-origin"}, http.StatusMethodNotAllowed},
	} {
		response, _ := f.get(t, tc.method, tc.path, tc.header...)
		if response.StatusCode != tc.want {
			t.Errorf("%s %s %v: got %d, want %d", tc.method, tc.path, tc.header, response.StatusCode, tc.want)
		}
		for name := range response.Header {
			if strings.HasPrefix(name, "Access-Control-") {
				t.Errorf("%s %s: got the header %s", tc.method, tc.path, name)
			}
		}
		if response.Header.Get("Cross-Origin-Resource-Policy") != "same-origin" || response.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s %s: got the headers %v", tc.method, tc.path, response.Header)
		}
	}
}
