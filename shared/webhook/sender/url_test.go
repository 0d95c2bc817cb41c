package sender_test

import (
	"bufio"
	_ "embed"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"devplatform/shared/webhook/sender"
)

//go:embed testdata/urls.txt
var urls string

func TestCheckURL(t *testing.T) {
	t.Parallel()
	rules := map[string]string{
		"ok":          "",
		"form":        "must be an absolute https URL, such as https://example.com/hooks",
		"plain":       "must begin with https, not http",
		"escape":      "must have two hexadecimal digits after each %",
		"characters":  "must not contain spaces or control characters",
		"credentials": "must not contain a user name or password",
		"host":        "must contain a valid host name or IP address, and any port must be from 1 to 65535",
		"private":     "must have a public host: not localhost, and not a private or reserved IP address",
		"length":      "must be at most 2,048 characters long",
	}
	for line := range strings.Lines(urls) {
		var rule, privateRule, url string
		if strings.HasPrefix(line, "#") {
			continue
		}
		if _, err := fmt.Sscanf(line, "%s %s %q", &rule, &privateRule, &url); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		for allowPrivate, want := range map[bool]string{false: rules[rule], true: rules[privateRule]} {
			got := ""
			if err := sender.CheckURL(url, allowPrivate); err != nil {
				got = err.Error()
			}
			if got != want {
				t.Errorf("%q, private addresses allowed: %t: got %q, want %q", url, allowPrivate, got, want)
			}
		}
	}
}

// An attempt checks the URL again, because a stored URL can violate a rule that was added later.
func TestAttemptChecksTheURL(t *testing.T) {
	t.Parallel()
	const form = "must be an absolute https URL, such as https://example.com/hooks"
	e := listen(t, "127.0.0.1:0", respond("HTTP/1.1 200 OK\r\n\r\n"))
	for url, rule := range map[string]string{
		e.url(): "must begin with https, not http", "ftp://" + e.address: form, e.address: form, "": form,
		"https://u:p@" + e.address: "must not contain a user name or password",
	} {
		got := post(t, sender.New(sender.Options{}), url)
		if want := "the url " + rule; got.Error != want {
			t.Errorf("%q: got error %q, want %q", url, got.Error, want)
		}
	}
	if n := e.accepted.Load(); n != 0 {
		t.Errorf("got %d connections, want none", n)
	}
}

// FuzzCheckURL checks that a valid request can be made from every accepted URL.
func FuzzCheckURL(f *testing.F) {
	for _, seed := range []string{
		"https://example.com:8443/hook?a=b", "http://[::1%25lo]:80", "https://bücher.example", "https://127.1",
		"https://１２７.0.0.1",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		publicErr, privateErr := sender.CheckURL(raw, false), sender.CheckURL(raw, true)
		if publicErr == nil && privateErr != nil {
			t.Fatalf("%q is rejected only if private addresses are allowed: %v", raw, privateErr)
		}
		if privateErr != nil {
			return
		}
		request, err := http.NewRequest(http.MethodPost, raw, nil)
		if err != nil {
			t.Fatalf("%q is accepted, but: %v", raw, err)
		}
		if request.URL.Host == "" || request.URL.User != nil || publicErr == nil && request.URL.Scheme != "https" {
			t.Fatalf("%q is accepted, and parsed as %+v", raw, request.URL)
		}
	})
}

// The characters of the request line that are not ASCII are percent-encoded. All other characters are sent unchanged.
func TestRequestLine(t *testing.T) {
	t.Parallel()
	lines := make(chan string, 1)
	e := listen(t, "127.0.0.1:0", func(conn net.Conn) {
		reader := bufio.NewReader(conn)
		line, _ := reader.ReadString('\n')
		lines <- strings.TrimSpace(line)
		_, _ = http.ReadRequest(bufio.NewReader(io.MultiReader(strings.NewReader(line), reader)))
		_, _ = io.WriteString(conn, "HTTP/1.1 204 No Content\r\n\r\n")
	})
	for _, tc := range []struct{ suffix, want string }{
		{"", "/hook"},
		{"?", "/hook?"},
		{"?a=b&c=%20+%C3%BC%zz&d=/?:@{}|", "/hook?a=b&c=%20+%C3%BC%zz&d=/?:@{}|"},
		{"?name=Zoë&ü=%C3%BC#ß", "/hook?name=Zo%C3%AB&%C3%BC=%C3%BC"},
		{"/ü%2Fü?日=本", "/hook/%C3%BC%2F%C3%BC?%E6%97%A5=%E6%9C%AC"},
	} {
		if got := post(t, localSender(), e.url()+tc.suffix); !got.OK() {
			t.Errorf("%q: got %+v, want a success", tc.suffix, got)
		}
		if got, want := <-lines, "POST "+tc.want+" HTTP/1.1"; got != want {
			t.Errorf("%q: got request line %q, want %q", tc.suffix, got, want)
		}
	}
}
