package build

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/evanw/esbuild/pkg/api"

	"devplatform/shared/deployment/failure"
)

// TestPackageManifestLimits builds with a package whose package.json is expensive.
func TestPackageManifestLimits(t *testing.T) {
	t.Parallel()
	manifest := func(text string) Input {
		return withPage(files("/main.js", `import { a } from "p"; console.log(a)`), files(
			"/node_modules/p/package.json", text, "/node_modules/p/index.js", `import "./b.js"; export const a = 1`,
			"/node_modules/p/b.js", `console.log("effect")`))
	}
	out := mustRun(t, manifest(`{"main":"index.js","sideEffects":["`+strings.Repeat(`a*/**/{b,c}","`, 70_000)+`x"]}`))
	if !strings.Contains(fmt.Sprint(out), "effect") {
		t.Error("a file was left out although the patterns were not read")
	}
	long := parseManifest("/", []byte(`{"sideEffects":["`+strings.Repeat("a", maxPatternBytes+1)+`"]}`))
	if long.pure || len(long.sideEffects) > 0 {
		t.Error("a pattern that is too long was read")
	}
	large := failure.Error{Code: failure.BuildFailed, Path: "/main.js", Line: 1, Column: 19,
		Message: "/node_modules/p/package.json"}
	wantFailure(t, manifest(`{"main":"index.js","a":"`+strings.Repeat("a", maxManifestBytes)+`"}`), large)
	wantFailure(t, manifest(`{"exports":{`+strings.Repeat(`"./a":1,`, maxValues+1)+`".":"./index.js"}}`), large)
	longText := `{"a":"` + strings.Repeat("a", maxManifestBytes) + `"}`
	wantFailure(t, Input{Files: files("/index.html", "", "/package.json", longText)},
		failure.Error{Code: failure.BuildFailed, Path: "/package.json", Line: 1, Column: 1, Message: "1 MiB"})
	var b budget
	if err := b.takeManifest("/p", []byte(strings.Repeat(",", 1<<20))); err != nil || b.used.Load() < 200<<20 {
		t.Errorf("got %v, %d bytes", err, b.used.Load())
	}
	wantFailure(t, withPage(files("/main.js", `import "`+strings.Repeat("a", maxSpecifier+1)+`"`), nil), failure.Error{
		Code: failure.BuildFailed, Path: "/main.js", Line: 1, Column: 8, Message: "too long"})
}

func TestBudgetOfFiles(t *testing.T) {
	t.Parallel()
	data := strings.Repeat("a", 20<<20)
	tooLarge := failure.Error{Code: failure.OutputTooLarge, Path: "/main.js", Line: 1, Column: 15, Message: "/big.txt"}
	for _, spec := range []string{"big.txt", "big.txt?raw", "big.txt?url"} {
		code, big := `import a from "./`+spec+`"; console.log(a)`, data+data[:maxFileBytes-len(data)+1]
		wantFailure(t, withPage(files("/main.js", code, "/big.txt", big), nil), tooLarge)
	}
	in := withPage(files("/main.js", `import a from "./0.txt?raw"; import b from "./1.txt?raw"; import c from "./2.txt?raw";
		import d from "./3.txt?raw"; console.log(a, b, c, d)`), nil)
	for i := range 4 {
		in.Files[fmt.Sprintf("/%d.txt", i)] = []byte(data)
	}
	_, err := Run(context.Background(), in)
	var f *failure.Error
	if !errors.As(err, &f) || f.Code != failure.BuildFailed || !strings.Contains(f.Message, "too much") {
		t.Errorf("got %v", err)
	}
}

func TestPageLimits(t *testing.T) {
	t.Parallel()
	wantFailure(t, Input{Files: files("/index.html", strings.Repeat("a", maxPageBytes+1))},
		failure.Error{Code: failure.BuildFailed, Path: "/index.html", Message: "5 MiB"})
	aliases := strings.Builder{}
	for i := range maxAliases + 1 {
		fmt.Fprintf(&aliases, `"a%d":["./a"],`, i)
	}
	config := `{"compilerOptions":{"paths":{` + aliases.String() + `}}}`
	wantFailure(t, withPage(files("/main.js", "", "/tsconfig.json", config), nil),
		failure.Error{Code: failure.BuildFailed, Path: "/tsconfig.json", Line: 1, Column: 1, Message: "1000"})
}

// afterContext is a context that ends after a number of checks.
type afterContext struct {
	context.Context
	checks int
}

func (c *afterContext) Err() error {
	if c.checks--; c.checks < 0 {
		return context.Canceled
	}
	return nil
}

// TestBundlerStops ends the context while the bundler reads a chain of modules.
func TestBundlerStops(t *testing.T) {
	t.Parallel()
	const modules = 3000
	ctx, cancel := context.WithCancel(t.Context())
	var loaded atomic.Int64
	chain := api.Plugin{Name: "chain", Setup: func(b api.PluginBuild) {
		b.OnResolve(api.OnResolveOptions{Filter: ".*"}, func(a api.OnResolveArgs) (api.OnResolveResult, error) {
			return api.OnResolveResult{Path: a.Path, Namespace: "chain"}, nil
		})
		b.OnLoad(api.OnLoadOptions{Filter: ".*"}, func(api.OnLoadArgs) (api.OnLoadResult, error) {
			n := loaded.Add(1)
			if n == 3 {
				cancel()
			}
			time.Sleep(time.Millisecond)
			if n == modules {
				return contents("", api.LoaderJS), nil
			}
			return contents(fmt.Sprintf("import %q", fmt.Sprint(n)), api.LoaderJS), nil
		})
	}}
	_, err := run(ctx, api.BuildOptions{
		EntryPoints: []string{"0"}, Bundle: true, AbsWorkingDir: root, Outdir: root, Plugins: []api.Plugin{chain},
		LogLevel: api.LogLevelSilent,
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	for before := int64(-1); before != loaded.Load(); {
		before = loaded.Load()
		time.Sleep(200 * time.Millisecond)
	}
	if loaded.Load() == modules {
		t.Error("the bundler has read all modules")
	}
}

func TestContextEndsBetweenPages(t *testing.T) {
	t.Parallel()
	in := Input{Files: files("/index.html", "<p>", "/a.html", "<p>", "/b.html", "<p>")}
	for checks := range 6 {
		_, err := Run(&afterContext{context.Background(), checks}, in)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("after %d checks: %v", checks, err)
		}
	}
}
