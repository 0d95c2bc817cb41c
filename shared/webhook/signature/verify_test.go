package signature_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"devplatform/shared/webhook/signature"
)

// Runs the examples of the README.
func TestREADMEExamples(t *testing.T) {
	t.Parallel()
	for _, example := range []struct {
		file, needs string
		command     func(t *testing.T, file string) []string
	}{
		{"main.go", "go", build},
		{"verify.py", "python3", func(_ *testing.T, file string) []string { return []string{"python3", file} }},
		{"verify.js", "node", func(_ *testing.T, file string) []string { return []string{"node", file} }},
		{"verify.sh", "openssl", func(_ *testing.T, file string) []string { return []string{"sh", file} }},
	} {
		t.Run(example.file, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(example.needs); err != nil {
				if os.Getenv("CI") == "true" {
					t.Fatalf("CI needs %s: %v", example.needs, err)
				}
				t.Skipf("%s is not installed", example.needs)
			}
			file := filepath.Join("testdata", "verify", example.file)
			checkLength(t, file)
			checkExample(t, example.command(t, file))
		})
	}
}

func checkLength(t *testing.T, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	code := 0
	for line := range strings.Lines(string(text)) {
		if strings.TrimSpace(line) != "" {
			code++
		}
	}
	const most = 15
	if code > most {
		t.Errorf("%s has %d lines; an example that is longer than %d is not copied", file, code, most)
	}
}

func build(t *testing.T, file string) []string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "verify")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", binary, file).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return []string{binary}
}

// checkExample runs an example with valid and invalid signatures.
func checkExample(t *testing.T, command []string) {
	t.Helper()
	const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	body := []byte("{\"name\":\"Zoë\",\"text\":\"line\\n\"}\r\n\x00\xff ")
	sign := func(secret string) string {
		return signature.Sign([]string{secret}, eventID, deliveryID, eventType, time.Now(), body).Get("X-Service-Signature")
	}
	good := sign(secret)
	for _, tc := range []struct {
		name, secret, header string
		body                 []byte
		want                 bool
	}{
		{"good", secret, good, body, true},
		{"an owner's own secret", "pässword with spaces' \"$HOME", sign("pässword with spaces' \"$HOME"), body, true},
		{"another body", secret, good, append(bytes.Clone(body), '\n'), false},
		{"an empty body", secret, good, nil, false},
		{"another secret", secret + "x", good, body, false},
		{"the decoded secret", secret, sign("1\xf2\x90\xf6\xbf\x06)\x8a\xabO\x08\xd4<?\x08,\xf6H\xa3b\xda-\xa4\xb0"), body, false},
		{"a changed digit", secret, good[:len(good)-1] + string("0123456789abcdef"[(strings.IndexByte("0123456789abcdef", good[len(good)-1])+1)%16]), body, false},
		{"no algorithm", secret, strings.TrimPrefix(good, "sha256="), body, false},
		{"cut short", secret, good[:len(good)-2], body, false},
		{"the algorithm alone", secret, "sha256=", body, false},
		{"something behind it", secret, good + "0", body, false},
		{"no header", secret, "", body, false},
		{"no secret", "", plain("", body), body, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			run := exec.CommandContext(t.Context(), command[0], append(command[1:len(command):len(command)], tc.header)...)
			run.Env = append(os.Environ(), "WEBHOOK_SECRET="+tc.secret)
			run.Stdin = bytes.NewReader(tc.body)
			out, err := run.CombinedOutput()
			if exit, ok := errors.AsType[*exec.ExitError](err); err != nil && (!ok || exit.ExitCode() != 1) {
				t.Fatalf("%v: %s", err, out)
			}
			if (err == nil) != tc.want {
				t.Errorf("valid: %t, want %t: %s", err == nil, tc.want, out)
			}
		})
	}
}
