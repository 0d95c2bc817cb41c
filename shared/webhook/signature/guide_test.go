package signature_test

import (
	"bytes"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"devplatform/infra/testmode"
	"devplatform/shared/webhook/signature"
)

// sample is a program made from the code blocks of the guide. It exits with 0 if the signature is valid, otherwise
// with 1.
type sample struct {
	command []string
	quiet   bool // prints nothing, even if the signature is not valid
	slow    bool // takes long to start
}

// essential are the cases that a slow sample runs for each change. A slow sample runs all other cases only in make
// nightly.
var essential = map[string]bool{
	"valid": true, "other secret": true, "old secret of two": true, "six minutes old": true, "wrong secret": true,
	"changed body": true, "changed timestamp": true, "signature without a version": true, "empty header": true,
}

// run runs a case of a sample.
func (s sample) run(t *testing.T, name string, check func(t *testing.T)) {
	t.Helper()
	if s.slow && !essential[name] && !testmode.IsNightly() {
		return
	}
	t.Run(name, func(t *testing.T) {
		t.Parallel()
		check(t)
	})
}

// TestGuideSamples runs every program in VERIFYING.md, exactly as it is in the document.
func TestGuideSamples(t *testing.T) {
	t.Parallel()
	blocks := guideBlocks(t)
	for _, tc := range []struct {
		language, tool string
		newSample      func(t *testing.T, code string) sample
	}{
		{"go", "go", newGoSample},
		{"python", "python3", newPythonSample},
		{"js", "node", func(t *testing.T, code string) sample {
			return sample{command: []string{"node", writeFile(t, "verify.js", code)}, quiet: true, slow: true}
		}},
		{"sh", "openssl", func(t *testing.T, code string) sample {
			return sample{command: []string{"sh", writeFile(t, "verify.sh", code)}, quiet: true}
		}},
	} {
		t.Run(tc.language, func(t *testing.T) {
			t.Parallel()
			requireTool(t, tc.tool)
			s := tc.newSample(t, blocks[tc.language][0])
			t.Run("standard webhooks", func(t *testing.T) {
				t.Parallel()
				checkStandard(t, s)
			})
			t.Run("service signature", func(t *testing.T) {
				t.Parallel()
				checkService(t, s)
			})
		})
	}
}

// TestGuideLibraries runs the code in VERIFYING.md that uses the official libraries: the second block of a language for
// secrets with a prefix, and the third block for other secrets. The module of the Go library contains the Python
// library. The JavaScript library is not available here.
func TestGuideLibraries(t *testing.T) {
	t.Parallel()
	testmode.SkipIfNotNightly(t)
	blocks := guideBlocks(t)
	for _, tc := range []struct {
		language, tool string
		constructor    string // the line of the second block that the third block replaces
		newSample      func(t *testing.T, code string) sample
		wrapper        string
	}{
		{
			language: "go", tool: "go", newSample: newGoSample, wrapper: goLibraryProgram,
			constructor: "webhook, err := standardwebhooks.NewWebhook(secret)\n",
		},
		{
			language: "python", tool: "python3", newSample: newPythonSample, wrapper: pythonLibraryProgram,
			constructor: "webhook = Webhook(secret)\n",
		},
	} {
		t.Run(tc.language, func(t *testing.T) {
			t.Parallel()
			requireTool(t, tc.tool)
			prefixed, replacement := blocks[tc.language][1], blocks[tc.language][2]
			if strings.Count(prefixed, tc.constructor) != 1 {
				t.Fatalf("the sample does not contain the line %q once:\n%s", tc.constructor, prefixed)
			}
			other := strings.Replace(prefixed, tc.constructor, replacement, 1)
			for _, variant := range []struct{ name, code, secret string }{
				{"prefixed secret", prefixed, newSecret},
				{"other secret", other, ownSecret},
			} {
				t.Run(variant.name, func(t *testing.T) {
					t.Parallel()
					s := tc.newSample(t, strings.Replace(tc.wrapper, "SAMPLE", variant.code, 1))
					s.quiet = false
					checkMessages(t, s, variant.secret)
				})
			}
		})
	}
}

const goLibraryProgram = `package main

import (
	"io"
	"net/http"
	"os"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

func main() {
	secret := os.Getenv("WEBHOOK_SECRET")
	body, _ := io.ReadAll(os.Stdin)
	request := &http.Request{Header: http.Header{
		"Webhook-Id": {os.Args[1]}, "Webhook-Timestamp": {os.Args[2]}, "Webhook-Signature": {os.Args[3]},
	}}
SAMPLE
	if err != nil {
		os.Exit(1)
	}
}
`

const pythonLibraryProgram = `import os
import sys

secret = os.environ["WEBHOOK_SECRET"]
headers = dict(zip(["Webhook-Id", "Webhook-Timestamp", "Webhook-Signature"], sys.argv[1:]))
body = sys.stdin.buffer.read()
SAMPLE
`

// guideBlocks returns the code blocks of the guide by language, in document order. It fails the test if a block was
// added or removed, so that no sample stays untested.
func guideBlocks(t *testing.T) map[string][]string {
	t.Helper()
	guide, err := os.ReadFile("../VERIFYING.md")
	if err != nil {
		t.Fatal(err)
	}
	const fence = "```"
	blocks := map[string][]string{}
	for i, part := range strings.Split("\n"+string(guide), "\n"+fence) {
		if i%2 == 1 { // the parts between an opening and a closing fence
			language, code, _ := strings.Cut(part, "\n")
			blocks[language] = append(blocks[language], code+"\n")
		}
	}
	counts := map[string]int{}
	for language := range maps.Keys(blocks) {
		counts[language] = len(blocks[language])
	}
	want := map[string]int{"go": 3, "python": 3, "js": 3, "sh": 1, "text": 1}
	if diff := cmp.Diff(want, counts); diff != "" {
		t.Fatalf("number of code blocks in each language (-want +got):\n%s", diff)
	}
	return blocks
}

// requireTool skips the test if a program is not installed, or with -short. In CI, it fails the test instead.
func requireTool(t *testing.T, name string) {
	t.Helper()
	testmode.SkipIfShort(t)
	if _, err := exec.LookPath(name); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("CI needs %s: %v", name, err)
		}
		t.Skipf("%s is not installed", name)
	}
}

func writeFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// newGoSample builds a Go program in the module of this package. With -short, it skips the test.
func newGoSample(t *testing.T, code string) sample {
	t.Helper()
	testmode.SkipIfShort(t)
	source := writeFile(t, "main.go", code)
	binary := filepath.Join(t.TempDir(), "verify")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", binary, source).CombinedOutput()
	if err != nil {
		t.Fatalf("go build: %v: %s", err, out)
	}
	return sample{command: []string{binary}, quiet: true}
}

// newPythonSample returns a Python program that can import the official library.
func newPythonSample(t *testing.T, code string) sample {
	t.Helper()
	const module = "github.com/standard-webhooks/standard-webhooks/libraries"
	libraries, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	path := "PYTHONPATH=" + filepath.Join(strings.TrimSpace(string(libraries)), "python")
	script := writeFile(t, "verify.py", code)
	// With -B, Python does not write compiled files into the module cache.
	return sample{command: []string{"env", path, "python3", "-B", script}, quiet: true, slow: true}
}

// ownSecret is a secret that an owner chose, without the prefix.
const ownSecret = "pässword with spaces' \"$HOME * 鍵"

// binaryBody is a body that is not valid UTF-8, so that a sample must verify the raw bytes.
var binaryBody = []byte("{\"name\":\"Zoë\",\"text\":\"line\\n\"}\r\n\x00\xff ")

// checkStandard checks a sample with the headers of Standard Webhooks and all kinds of secrets.
func checkStandard(t *testing.T, s sample) {
	t.Helper()
	t.Run("prefixed secret", func(t *testing.T) {
		t.Parallel()
		checkMessages(t, s, newSecret)
	})
	for _, tc := range []struct {
		name, secret string
		want         bool
	}{
		{"other secret", ownSecret, true},
		{"other secret that is also base64", "aGVsbG8gd29ybGQ=", true},
		{"longest secret", strings.Repeat("鍵", 256), true},
		{"secret with the prefix in the middle", "my_whsec_YQ==", true},
		{"empty secret", "", false},
	} {
		s.run(t, tc.name, func(t *testing.T) {
			now := time.Now()
			header := signature.Sign([]string{tc.secret}, eventID, deliveryID, eventType, now, binaryBody)
			headers := []string{eventID, strconv.FormatInt(now.Unix(), 10), header.Get("webhook-signature")}
			s.check(t, tc.secret, headers, binaryBody, tc.want)
		})
	}
}

// messageCase is a message that is signed when its test runs, so that the age of the signature is exact.
type messageCase struct {
	name    string
	secrets []string      // that sign the message, newest first
	age     time.Duration // of the signature
	body    []byte        // the received body; the signed body if nil
	// change changes the received headers: the ID, the timestamp and the signatures.
	change func(headers []string)
	want   bool
}

// messageCases returns messages for a receiver with the given secret.
func messageCases(secret string) []messageCase {
	const other = "another secret"
	own := []string{secret}
	return []messageCase{
		{name: "valid", secrets: own, want: true},
		{name: "new secret of two", secrets: []string{secret, other}, want: true},
		{name: "old secret of two", secrets: []string{other, secret}, want: true},
		{name: "oldest secret of three", secrets: []string{other, newSecret + "x", secret}, want: true},
		{name: "another version first", secrets: own, change: func(h []string) { h[2] = "v1a,AAAA " + h[2] }, want: true},
		{name: "four minutes old", secrets: own, age: 4 * time.Minute, want: true},
		{name: "six minutes old", secrets: own, age: 6 * time.Minute},
		{name: "six minutes in the future", secrets: own, age: -6 * time.Minute},
		{name: "wrong secret", secrets: []string{other}},
		{name: "two wrong secrets", secrets: []string{other, secret + "x"}},
		{name: "changed body", secrets: own, body: append(bytes.Clone(body), '\n')},
		{name: "empty body", secrets: own, body: []byte{}},
		{name: "changed ID", secrets: own, change: func(h []string) { h[0] += "x" }},
		{name: "changed timestamp", secrets: own, change: func(h []string) {
			h[1] = strconv.FormatInt(time.Now().Add(-time.Minute).Unix(), 10)
		}},
		{name: "timestamp that is not a number", secrets: own, change: func(h []string) { h[1] = "now" }},
		{name: "signature without its last character", secrets: own, change: func(h []string) {
			h[2] = h[2][:len(h[2])-1]
		}},
		{name: "signature without a version", secrets: own, change: func(h []string) {
			h[2] = strings.TrimPrefix(h[2], "v1,")
		}},
		{name: "signature of another version", secrets: own, change: func(h []string) {
			h[2] = "v2" + strings.TrimPrefix(h[2], "v1")
		}},
		{name: "version without a signature", secrets: own, change: func(h []string) { h[2] = "v1," }},
	}
}

// checkMessages checks that a sample with a secret accepts valid messages only.
func checkMessages(t *testing.T, s sample, secret string) {
	t.Helper()
	for _, tc := range messageCases(secret) {
		s.run(t, tc.name, func(t *testing.T) {
			at := time.Now().Add(-tc.age)
			signed := signature.Sign(tc.secrets, eventID, deliveryID, eventType, at, body)
			headers := []string{eventID, strconv.FormatInt(at.Unix(), 10), signed.Get("webhook-signature")}
			if tc.change != nil {
				tc.change(headers)
			}
			received := body
			if tc.body != nil {
				received = tc.body
			}
			s.check(t, secret, headers, received, tc.want)
		})
	}
}

// checkService checks a sample with X-Service-Signature.
func checkService(t *testing.T, s sample) {
	t.Helper()
	const decodedSecret = "1\xf2\x90\xf6\xbf\x06)\x8a\xabO\x08\xd4<?\x08,\xf6H\xa3b\xda-\xa4\xb0"
	body := binaryBody
	valid := serviceSignature(newSecret, body)
	changed := "0"
	if strings.HasSuffix(valid, changed) {
		changed = "1"
	}
	for _, tc := range []struct {
		name, secret, header string
		body                 []byte
		want                 bool
	}{
		{"valid", newSecret, valid, body, true},
		{"other secret", ownSecret, serviceSignature(ownSecret, body), body, true},
		{"changed body", newSecret, valid, append(bytes.Clone(body), '\n'), false},
		{"empty body", newSecret, valid, nil, false},
		{"wrong secret", newSecret + "x", valid, body, false},
		{"decoded secret", newSecret, serviceSignature(decodedSecret, body), body, false},
		{"empty secret", "", serviceSignature("", body), body, false},
		{"changed digit", newSecret, valid[:len(valid)-1] + changed, body, false},
		{"signature without its last digits", newSecret, valid[:len(valid)-2], body, false},
		{"signature with an extra digit", newSecret, valid + "0", body, false},
		{"signature without an algorithm", newSecret, strings.TrimPrefix(valid, "sha256="), body, false},
		{"algorithm without a signature", newSecret, "sha256=", body, false},
		{"empty header", newSecret, "", body, false},
	} {
		s.run(t, tc.name, func(t *testing.T) {
			s.check(t, tc.secret, []string{tc.header}, tc.body, tc.want)
		})
	}
}

// check runs the sample and checks whether it accepts the signature in the headers.
func (s sample) check(t *testing.T, secret string, headers []string, body []byte, want bool) {
	t.Helper()
	arguments := append(s.command[1:len(s.command):len(s.command)], headers...)
	run := exec.CommandContext(t.Context(), s.command[0], arguments...)
	run.Env = append(os.Environ(), "WEBHOOK_SECRET="+secret)
	run.Stdin = bytes.NewReader(body)
	out, err := run.CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); err != nil && (!ok || exit.ExitCode() != 1) {
		t.Fatalf("%v: %s", err, out)
	}
	if got := err == nil; got != want {
		t.Errorf("the sample reports that the signature is valid: got %t, want %t: %s", got, want, out)
	}
	if s.quiet && len(out) > 0 {
		t.Errorf("the sample printed %q, want no output", out)
	}
}
