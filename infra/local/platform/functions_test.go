package platform

import (
	"context"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"devplatform/infra/local/resources"
	"devplatform/infra/platformtest"
	"devplatform/infra/testmode"
)

// writeFiles creates files in a new folder, by path.
func writeFiles(t *testing.T, files map[string]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// greeter is a project without dependencies. Its function responds to each event with the text of another package,
// which is embedded.
var greeter = map[string]string{
	"go.mod":                "module example\n\ngo 1.26\n",
	"greeting/greeting.txt": "hello",
	"greeting/greeting.go": `package greeting

import _ "embed"

//go:embed greeting.txt
var Text string
`,
	"hello/main.go": `package main

import (
	"fmt"
	"net/http"
	"os"
	"strings"

	"example/greeting"
)

func main() {
	if os.Getenv("COLOR") == "beige" {
		fmt.Println("COLOR=beige: must be red or blue")
		os.Exit(1)
	}
	api := "http://" + os.Getenv("AWS_LAMBDA_RUNTIME_API") + "/2018-06-01/runtime/invocation/"
	for {
		event, err := http.Get(api + "next")
		if err != nil {
			os.Exit(1)
		}
		id := event.Header.Get("Lambda-Runtime-Aws-Request-Id")
		body := fmt.Sprintf("{\"statusCode\":200,\"body\":%q}", greeting.Text)
		if _, err := http.Post(api+id+"/response", "application/json", strings.NewReader(body)); err != nil {
			os.Exit(1)
		}
	}
}
`,
	"template.yaml": `Transform: AWS::Serverless-2016-10-31
Globals:
  Function: {CodeUri: hello, Handler: bootstrap, Runtime: provided.al2023, Environment: {Variables: {COLOR: blue}}}
Resources:
  Hello:
    Type: AWS::Serverless::Function
    Properties: {Events: {Api: {Type: Api, Properties: {RestApiId: !Ref Api, Path: /hello, Method: get}}}}
  Other: {Type: AWS::Serverless::Function}
  Api: {Type: AWS::Serverless::Api, Properties: {StageName: dev}}
`,
}

// openProject opens a platform for a project in a folder, until the test ends. It returns its log, too.
func openProject(t *testing.T, dir string) (*Platform, *syncBuffer) {
	t.Helper()
	log := &syncBuffer{}
	p, err := Open(t.Context(), Config{
		Template: filepath.Join(dir, "template.yaml"), DataDir: filepath.Join(dir, ".local"),
		Pages: []Page{{"greeting", "/hello"}}, Logger: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p, log
}

// syncBuffer is a buffer for a log that a test reads while it is written.
type syncBuffer struct {
	mu   sync.Mutex
	text strings.Builder
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// get returns the body of a response.
func get(t *testing.T, url string) string {
	t.Helper()
	response, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// The platform builds a function and runs it. Two functions can share a package.
func TestBuild(t *testing.T) {
	t.Parallel()
	p, _ := openProject(t, writeFiles(t, greeter))
	if got := get(t, p.URL+"/hello"); got != "hello" {
		t.Errorf("got %q, want hello", got)
	}
	if got := get(t, p.URL); !strings.Contains(got, p.URL+`/hello">`) {
		t.Errorf("the landing page does not link to /hello:\n%s", got)
	}
}

// Problems with a project's functions are errors at the start.
func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	template := greeter["template.yaml"]
	for name, tc := range map[string]struct{ file, content, want string }{
		"code that does not compile": {
			"greeting/greeting.go", "package greeting\n\nvar Text = broken\n",
			"build the functions: exit status 1\n# example/greeting\ngreeting/greeting.go:3:12: undefined: broken",
		},
		"a value that is not valid": {
			"template.yaml", strings.Replace(template, "blue", "beige", 1),
			"Hello, Other: cannot start: COLOR=beige: must be red or blue",
		},
		"binaries of the same name": {
			"template.yaml", strings.Replace(template, "Function}", "Function, Properties: {CodeUri: other/hello}}", 1),
			"Other: CodeUri other/hello and hello have the same last element",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := writeFiles(t, greeter)
			path := filepath.Join(dir, tc.file)
			if err := os.WriteFile(path, []byte(tc.content), 0o600); err != nil {
				t.Fatal(err)
			}
			config := Config{Template: filepath.Join(dir, "template.yaml"), DataDir: filepath.Join(dir, ".local")}
			if _, err := Open(t.Context(), config); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got the error %v, want %s", err, tc.want)
			}
		})
	}
}

// A missing binary is an error, if the configuration has a folder of binaries.
func TestMissingBinary(t *testing.T) {
	t.Parallel()
	s := &resources.Stack{Functions: []resources.Function{{Name: "One", CodeURI: "cmd/one"}}}
	err := newFunctions(Config{Binaries: t.TempDir()}, s).buildAll(t.Context())
	if err == nil || !strings.Contains(err.Error(), "One: no binary at") {
		t.Errorf("got the error %v", err)
	}
}

// replaceFile replaces a file in one step, so that Watch does not see an empty file.
func replaceFile(t *testing.T, path, content string) {
	t.Helper()
	next := filepath.Join(t.TempDir(), "next")
	if err := os.WriteFile(next, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(next, path); err != nil {
		t.Fatal(err)
	}
}

// Watch replaces a function when a package or an embedded file that it uses changes. Code that does not compile, or
// does not start, does not replace the old code.
func TestWatch(t *testing.T) {
	testmode.SkipIfShort(t)
	t.Parallel()
	dir := writeFiles(t, greeter)
	if err := os.Mkdir(filepath.Join(dir, "color"), 0o700); err != nil {
		t.Fatal(err)
	}
	replaceFile(t, filepath.Join(dir, "color/color.go"), "package color\n\nvar Text = broken\n") // no function uses it
	p, log := openProject(t, dir)
	startWatch(t, p)
	platformtest.Eventually(t, "Watch begins", func() bool { return strings.Contains(log.String(), "watching") })
	replaceFile(t, filepath.Join(dir, "greeting/README.md"), "") // no function uses it
	for _, change := range []struct{ file, content, log, want string }{
		{"greeting/greeting.go", "package greeting\n\nvar Text = \"new\"\n", "replaced", "new"},
		{"greeting/greeting.go", "package greeting\n\nvar Text = broken\n", "undefined: broken", "new"},
		{"greeting/greeting.go", "package greeting\n\nfunc init() { panic(1) }\n\nvar Text = \"\"\n", "cannot start", "new"},
		{"greeting/greeting.go", greeter["greeting/greeting.go"], "replaced", "hello"},
		{"greeting/greeting.txt", "embedded", "replaced", "embedded"},
		{"greeting/greeting.go", "package greeting\n\nimport \"example/color\"\n\nvar Text = color.Text\n", "undefined: broken", "embedded"},
		{"color/color.go", "package color\n\nvar Text = \"red\"\n", "replaced", "red"},
		{"template.yaml", greeter["template.yaml"] + "\n", "restart the platform", "red"},
	} {
		before := strings.Count(log.String(), change.log)
		replaceFile(t, filepath.Join(dir, change.file), change.content)
		platformtest.Eventually(t, change.log, func() bool { return strings.Count(log.String(), change.log) > before })
		if got := get(t, p.URL+"/hello"); got != change.want {
			t.Errorf("%s: got %q, want %q\n%s", change.file, got, change.want, log)
		}
	}
	if got := strings.Count(log.String(), "replaced"); got != 4 {
		t.Errorf("the functions were replaced %d times, want 4\n%s", got, log)
	}
}

// startWatch runs Watch until the test ends.
func startWatch(t *testing.T, p *Platform) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { p.Watch(ctx); close(ended) }()
	t.Cleanup(func() { cancel(); <-ended })
}

// Watch replaces a function when a file is created in a folder that is embedded.
func TestWatchEmbeddedFolder(t *testing.T) {
	testmode.SkipIfShort(t)
	t.Parallel()
	files := maps.Clone(greeter)
	files["greeting/texts/a.txt"] = ""
	files["greeting/greeting.go"] = `package greeting

import "embed"

//go:embed texts
var texts embed.FS

var Text = func() (names string) {
	all, _ := texts.ReadDir("texts")
	for _, file := range all {
		names += file.Name() + " "
	}
	return names
}()
`
	dir := writeFiles(t, files)
	p, log := openProject(t, dir)
	startWatch(t, p)
	platformtest.Eventually(t, "Watch begins", func() bool { return strings.Contains(log.String(), "watching") })
	replaceFile(t, filepath.Join(dir, "greeting/texts/b.go"), "not code")
	platformtest.Eventually(t, "the function is replaced", func() bool { return strings.Contains(log.String(), "replaced") })
	if got := get(t, p.URL+"/hello"); got != "a.txt b.go " {
		t.Errorf("got %q, want the names of both files", got)
	}
}

// Watch also replaces a function whose code changed before Watch began, because it may have changed after it was built.
func TestWatchEarlierChange(t *testing.T) {
	testmode.SkipIfShort(t)
	t.Parallel()
	dir := writeFiles(t, greeter)
	p, log := openProject(t, dir)
	replaceFile(t, filepath.Join(dir, "greeting/greeting.go"), "package greeting\n\nvar Text = \"new\"\n")
	startWatch(t, p)
	platformtest.Eventually(t, "the function is replaced", func() bool { return strings.Contains(log.String(), "replaced") })
	if got := get(t, p.URL+"/hello"); got != "new" {
		t.Errorf("got %q, want new", got)
	}
}
