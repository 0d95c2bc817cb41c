package sender_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"devplatform/shared/webhook/sender"
)

func TestCheckURL(t *testing.T) {
	t.Parallel()
	const (
		form        = "must be an absolute https URL, such as https://example.com/hooks"
		plain       = "must begin with https, not http"
		escape      = "must have two hexadecimal digits after each %"
		characters  = "must not contain spaces or control characters"
		credentials = "must not contain a user name or password"
		host        = "must contain a valid host name or IP address"
		private     = "must not have localhost or an IP address that is not public as its host"
		port        = "must have no port, or a port from 1 to 65535"
		length      = "must be at most 2,048 characters long"
	)
	for _, tc := range []struct{ url, want, wantPrivate string }{
		{"https://example.com", "", ""},
		{"https://example.com/hook?a=b&c=%20#part", "", ""},
		{"HTTPS://Example.COM:8443/", "", ""},
		{"https://example.com:1", "", ""},
		{"https://example.com:65535", "", ""},
		{"https://example.com./", "", ""},
		{"https://under_score.example.com", "", ""},
		{"https://bücher.example/", "", ""},
		{"https://xn--bcher-kva.example/", "", ""},
		{"https://example.com/bücher", "", ""},
		{"https://8.8.8.8/", "", ""},
		{"https://[::ffff:8.8.8.8]/", "", ""},
		{"https://[2606:4700::1111]:8080/", "", ""},
		{"https://134744072/", "", ""}, // 8.8.8.8
		{"https://localhost.example.com/", "", ""},
		{"https://10.example.com/", "", ""},
		{"https://localhost", private, ""},
		{"https://LocalHost./", private, ""},
		{"https://api.localhost:3000/", private, ""},
		{"https://127.0.0.1:8080/", private, ""},
		{"https://127.0.0.1./", private, ""},
		{"https://127.1/", private, ""},
		{"https://2130706433/", private, ""},
		{"https://0x7f000001/", private, ""},
		{"https://0177.0.0.1/", private, ""},
		{"https://0/", private, ""},
		{"https://１２７.０.０.１/", private, ""},
		{"https://10.1.2.3/", private, ""},
		{"https://172.16.0.1/", private, ""},
		{"https://192.168.0.1/", private, ""},
		{"https://100.64.0.1/", private, ""},
		{"https://169.254.169.254/latest/meta-data/", private, ""},
		{"https://[::1]:8080/", private, ""},
		{"https://[::]/", private, ""},
		{"https://[::ffff:127.0.0.1]/", private, ""},
		{"https://[::ffff:a9fe:a9fe]/", private, ""},
		{"https://[fd00::1]/", private, ""},
		{"https://[fe80::1%25eth0]/", private, ""},
		{"https://[64:ff9b::7f00:1]/", private, ""},
		{"https://[2002:7f00:1::]/", private, ""},
		{"https://" + strings.Repeat("a", 63) + ".com", "", ""},
		{"https://example.com/" + strings.Repeat("a", 2028), "", ""},
		{"https://example.com/" + strings.Repeat("é", 2028), "", ""},
		{"http://example.com", plain, ""},
		{"http://localhost:3000/hook", plain, ""},
		{"HTTP://example.com", plain, ""},

		{"", form, form},
		{"example.com", form, form},
		{"example.com:443", form, form},
		{"/hook", form, form},
		{"//example.com/hook", form, form},
		{"ftp://example.com", form, form},
		{"file:///etc/passwd", form, form},
		{"gopher://example.com", form, form},
		{"javascript:alert(1)", form, form},
		{"https://[::1", host, host},
		{"https://exa%mple.com", host, host},
		{"https://127%2e0.0.1/", host, host},
		{"https://example.com:80a/", port, port},
		{"https://example.com:-1/", port, port},
		{"https://example.com\\@127.0.0.1/", credentials, credentials},
		{"https:example.com", form, form},
		{"https:/example.com", form, form},
		{"https://", host, host},
		{"https:///hook", host, host},
		{"https://:443/", host, host},
		{"https://./", host, host},
		{"https://a..b/", host, host},
		{"https://.example.com/", host, host},
		{"https://exa!mple.com/", host, host},
		{"https://*.example.com/", host, host},
		{"https://example.com;evil.com/", host, host},
		{"https://" + strings.Repeat("a", 64) + ".com", host, host},
		{"https://" + strings.Repeat("a.", 127) + "com", host, host},
		{"https://[::g]/", host, host},
		{"https://\u00ad/", host, host},
		{"https://user@example.com/", credentials, credentials},
		{"https://user:password@example.com/", credentials, credentials},
		{"https://@example.com/", credentials, credentials},
		{"http://user:password@127.0.0.1/", credentials, credentials},
		{"https://user:pass^word@example.com/", credentials, credentials},
		{"https://user:100%@example.com/", credentials, credentials},
		{"https://user:password@example.com:port/", credentials, credentials},
		{"https://example.com/@user", "", ""},
		{"https://example.com?to=a@b.example", "", ""},
		{"https://example.com#@", "", ""},
		{"https://example.com/?next=http://example.com", "", ""},
		{"/?next=https://example.com", form, form},
		{"https://example.com/100%", escape, escape},
		{"https://example.com/%zz", escape, escape},
		{"https://[::1]:x/", port, port},
		{"https://[::1]x/", host, host},
		{"https://example.com:/", port, port},
		{"https://example.com:0/", port, port},
		{"https://example.com:65536/", port, port},
		{"https://example.com:99999999999999999999/", port, port},
		{" https://example.com", characters, characters},
		{"https://example.com ", characters, characters},
		{"https://example.com/a b", characters, characters},
		{"https://example.com/\r\nX-Injected: yes", characters, characters},
		{"https://example.com/\x00", characters, characters},
		{"https://example.com/\u0085", characters, characters},
		{"https://example.com/\u2028", characters, characters},
		{"https://example.com/\u00a0", characters, characters},
		{"https://example.com/\xff", characters, characters},
		{"https://example.com/" + strings.Repeat("a", 2029), length, length},
	} {
		for _, allowed := range []struct {
			private bool
			want    string
		}{{false, tc.want}, {true, tc.wantPrivate}} {
			got := ""
			if err := sender.CheckURL(tc.url, allowed.private); err != nil {
				got = err.Error()
			}
			if got != allowed.want {
				t.Errorf("%q, private addresses allowed: %t: got %q, want %q", tc.url, allowed.private, got, allowed.want)
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
