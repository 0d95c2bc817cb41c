package sender_test

import (
	"bytes"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"devplatform/shared/webhook/sender"
)

func TestPrintable(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, in, want string }{
		{"text", "Zoë 👩‍💻 鍵\n\tindented", "Zoë 👩‍💻 鍵\n\tindented"},
		{"CRLF line endings", "a\r\nb\r\n\r\nc", "a\nb\n\nc"},
		{"CR without LF", "safe\revil", "safe\ufffdevil"},
		{"two CRs before LF", "a\r\r\nb", "a\ufffd\nb"},
		{"terminal control characters", "\x1b[31mred\x1b[0m\a\b\x7f", "\ufffd[31mred\ufffd[0m\ufffd"},
		{"C1 control character", "a\u009b31m", "a\ufffd31m"},
		{"NUL characters", "a\x00\x00b", "a\ufffdb"},
		{"not UTF-8", "a\xff\xfe\xc3b", "a\ufffdb"},
		{"bidirectional controls", "abc\u202edef\u2066", "abc\ufffddef\ufffd"},
		{"Unicode line separators", "a\u2028b\u2029", "a\ufffdb\ufffd"},
		{"byte order mark", "\ufeff{}", "\ufffd{}"},
		{"private use and unassigned characters", "\ue000\U0010ffff", "\ufffd"},
		{"encoded surrogate", "\xed\xa0\x80", "\ufffd"},
		{"Unicode spaces", "a\u00a0b\u3000c", "a\u00a0b\u3000c"},
		{"empty", "", ""},
		{"truncated before a character", strings.Repeat("a", 1023) + "é", strings.Repeat("a", 1023)},
		{"truncated after a character", strings.Repeat("a", 1022) + "éx", strings.Repeat("a", 1022) + "é"},
	} {
		if got := sender.Printable([]byte(tc.in)); got != tc.want {
			t.Errorf("%s: got %q, want %q", tc.name, got, tc.want)
		}
	}
}

// FuzzPrintable checks the limits of the result, and that a second call only merges replacement characters.
func FuzzPrintable(f *testing.F) {
	f.Add([]byte("\x1b]0;title\a\r\n\xff\u202e"))
	f.Add(bytes.Repeat([]byte("é\x00"), 600))
	f.Fuzz(func(t *testing.T, body []byte) {
		got := sender.Printable(body)
		if len(got) > 1<<10 || !utf8.ValidString(got) {
			t.Fatalf("got %d bytes %q, want at most 1 KiB of UTF-8", len(got), got)
		}
		isForbidden := func(r rune) bool { return r != '\n' && r != '\t' && unicode.IsControl(r) }
		if i := strings.IndexFunc(got, isForbidden); i >= 0 {
			t.Fatalf("the result contains a control character at %q", got[i:])
		}
		if again := sender.Printable([]byte(got)); again != strings.ReplaceAll(got, "\ufffd\ufffd", "\ufffd") {
			t.Fatalf("the second call changed %q to %q", got, again)
		}
	})
}
