package render_test

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"
	"pgregory.net/rapid"

	"devplatform/shared/account/user"
	"devplatform/shared/mail"
	"devplatform/shared/mail/render"
)

var update = flag.Bool("update", false, "write the golden files")

var at = time.Date(2031, 5, 5, 10, 5, 0, 0, time.UTC)

var settings = render.Settings{Name: "Acme", AppURL: "https://app.example.com"}

// example returns a message of a kind with all values that its text contains.
func example(kind mail.Kind) mail.Message {
	m := mail.Message{
		Kind: kind, To: "ada@example.com", UserID: "usr_01K9ZQ3V7M8T5XW2ABCDEFGHJK", Username: "ada",
		Values: map[string]string{
			"email": "new@example.com", "workspace": "Team", "inviter": "grace", "role": "member", "provider": "GitHub",
			"name": "deploy", "reason": "every attempt in the last five days failed",
		},
		ExpiresAt: at.Add(30 * time.Minute),
	}
	switch kind {
	case mail.Confirm, mail.Reset, mail.Change:
		m.Token, m.Code = "f5Ytn_example-token", "7K3M9PQR"
	case mail.Undo, mail.Invitation:
		m.Token = "f5Ytn_example-token"
	case mail.WebhookDisabled: // no request caused it
	default:
		m.Values["ip"], m.Values["userAgent"] = "192.0.2.1", "Mozilla/5.0 (X11; Linux x86_64; rv:150.0)"
	}
	return m
}

func rendered(t interface {
	Helper()
	Fatal(args ...any)
}, s render.Settings, m mail.Message) render.Mail {
	t.Helper()
	r, err := render.New(s)
	if err != nil {
		t.Fatal(err)
	}
	out, err := r.Render(m, at)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestMails compares each kind of mail with a golden file. go test ./shared/mail/render -update writes the files.
func TestMails(t *testing.T) {
	t.Parallel()
	for _, kind := range render.Kinds() {
		out := rendered(t, settings, example(kind))
		for extension, got := range map[string]string{
			".txt": "Subject: " + out.Subject + "\n\n" + out.Text, ".html": out.HTML,
		} {
			file := filepath.Join("testdata", string(kind)+extension)
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil || got != string(want) {
				t.Errorf("%s: got %s\nwant %s (%v)", file, got, want, err)
			}
		}
		if strings.ContainsAny(out.Text+out.Subject, "{}") {
			t.Errorf("%s: a value is not replaced:\n%s", kind, out.Text)
		}
	}
}

// hostile are names that try to add a header, markup, a link, or another order of the words.
var hostile = []string{
	"Team\r\nBcc: eve@example.com", "Team\nSubject: x", "<script>alert(1)</script>", `"><img src=x onerror=alert(1)>`,
	"{{.Token}}", "{service}", "Visit https://evil.example/win", "evil.example", "mail eve@evil.example",
	"\u202egnp.exe", "\u2066abc", "a\u200bb\u2069", "שלום עולם", "مرحبا (بالعالم) 123", strings.Repeat("w", 5000),
	strings.Repeat("é ", 500), "\x00\x07\x1b[31m", "\xff\xfe", "\u2028\u2029", "",
}

func TestHostileNames(t *testing.T) {
	t.Parallel()
	for _, name := range hostile {
		m := example(mail.Invitation)
		m.Values["workspace"], m.Values["inviter"], m.Username = name, name, name
		checkSafe(t, name, rendered(t, settings, m))
		m = example(mail.NewNetwork)
		m.Values["userAgent"] = name
		checkSafe(t, name, rendered(t, settings, m))
	}
}

func TestAnyName(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := example(rapid.SampledFrom(render.Kinds()).Draw(t, "kind"))
		for name := range m.Values {
			if name != "email" && name != "ip" { // the service checks these values before it stores the mail
				m.Values[name] = rapid.String().Draw(t, name)
			}
		}
		m.Username = rapid.String().Draw(t, "username")
		checkSafe(t, m.Username, rendered(t, settings, m))
	})
}

// linkable matches texts that mail programs turn into a link.
var linkable = regexp.MustCompile(`(?i)https?://|[a-z0-9-]\.[a-z]{2}|@[a-z]`)

// checkSafe checks that a value of users cannot change the structure of a mail.
func checkSafe(t interface {
	Helper()
	Errorf(format string, args ...any)
}, name string, m render.Mail,
) {
	t.Helper()
	if strings.ContainsFunc(m.Subject, func(r rune) bool { return r < ' ' || r == 0x7f || r == 0x2028 }) ||
		len(m.Subject) > 600 {
		t.Errorf("%q: the subject is %q", name, m.Subject)
	}
	if !strings.HasPrefix(m.Text, "Hello") || strings.Count(m.Text, "\u2068") != strings.Count(m.Text, "\u2069") ||
		strings.ContainsAny(m.Text, "\u202e\u2066\u200b\r\x00\x1b") {
		t.Errorf("%q: the text is %q", name, m.Text)
	}
	document, err := html.Parse(strings.NewReader(m.HTML))
	if err != nil {
		t.Errorf("%q: the HTML is not valid: %v", name, err)
		return
	}
	known := map[string]bool{}
	for tag := range strings.FieldsSeq("html head meta title style body div p a bdi br span") {
		known[tag] = true
	}
	for node := range document.Descendants() {
		if node.Type == html.ElementNode && !known[node.Data] {
			t.Errorf("%q: the HTML contains the element %s", name, node.Data)
		}
		if node.Type == html.TextNode && node.Parent.Data == "bdi" && linkable.MatchString(node.Data) &&
			node.Data != "new@example.com" && node.Data != "192.0.2.1" {
			t.Errorf("%q: a mail program would make a link of %q", name, node.Data)
		}
	}
}

// TestLongestAddress checks that an address is not shortened.
func TestLongestAddress(t *testing.T) {
	t.Parallel()
	address := strings.Repeat("a", 64) + "@" + strings.Repeat(strings.Repeat("b", 61)+".", 3) + "cc"
	address += strings.Repeat("c", user.MaxEmailBytes-len(address))
	m := example(mail.Undo)
	m.Values["email"] = address
	if out := rendered(t, settings, m); !strings.Contains(out.Text, address) || !strings.Contains(out.HTML, address) {
		t.Errorf("the mail does not contain the address of %d bytes:\n%s", len(address), out.Text)
	}
}

// TestLinks checks where links lead.
func TestLinks(t *testing.T) {
	t.Parallel()
	own := settings
	own.ConfirmPath, own.ResetPath, own.ChangePath = "/welcome", "/password", "/address"
	own.UndoPath, own.InvitationPath = "/undo?x=1", "/join"
	for kind, path := range map[mail.Kind]string{
		mail.Confirm: "/welcome", mail.Reset: "/password", mail.Change: "/address", mail.Undo: "/undo?x=1",
		mail.Invitation: "/join",
	} {
		for s, want := range map[*render.Settings]string{
			&own: path, &settings: "/api/auth/page/" + string(kind),
		} {
			want = "https://app.example.com" + want + "#token=f5Ytn_example-token"
			out := rendered(t, *s, example(kind))
			if !strings.Contains(out.Text, "\n"+want+"\n") || !strings.Contains(out.HTML, `href="`+want+`"`) {
				t.Errorf("%s: want the link %s in:\n%s\n%s", kind, want, out.Text, out.HTML)
			}
		}
	}
}

func TestUnknownKind(t *testing.T) {
	t.Parallel()
	r, err := render.New(settings)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Render(mail.Message{Kind: "other"}, at); err == nil {
		t.Error("Render accepted a message of an unknown kind")
	}
}
