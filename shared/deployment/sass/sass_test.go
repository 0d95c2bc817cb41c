package sass

import (
	"errors"
	"fmt"
	"path"
	"strings"
	"testing"
	"time"

	"devplatform/shared/deployment/failure"
)

// files are the files of a project by path. References that are not relative mean packages, or files of /lib.
type files map[string]string

func (f files) Has(file string) bool { return f[file] != "" }

func (f files) Read(file, _ string) ([]byte, error) {
	if file == "/secret.scss" {
		return nil, &failure.Error{Code: failure.BuildFailed, Message: "The file is never bundled."}
	}
	return []byte(f[file]), nil
}

func (files) Candidates(_, spec string) ([]string, error) {
	spec = strings.TrimPrefix(spec, "pkg:")
	if strings.Contains(spec, ":") {
		return nil, &failure.Error{Code: failure.BuildFailed, Message: "not a path"}
	}
	return []string{path.Join("/node_modules", spec), path.Join("/lib", spec)}, nil
}

func (files) ErrMissing(importer, spec string) *failure.Error {
	return &failure.Error{Code: failure.DependencyNotFound, Message: spec + " is missing in " + importer}
}

func start(t *testing.T, all files) *Compiler {
	t.Helper()
	c := New(all)
	t.Cleanup(c.Close)
	return c
}

// compact returns CSS without spaces and line breaks.
func compact(css string) string { return strings.Join(strings.Fields(css), "") }

func TestCompile(t *testing.T) {
	t.Parallel()
	c := start(t, files{
		"/src/_partial.scss": "$c: red; @mixin m { partial: $c }", "/src/folder/_index.sass": "a\n  b: index",
		"/src/both.import.scss": "a { b: import }", "/src/both.scss": "a { b: use }", "/src/plain.css": "p { q: r }",
		"/src/sub/a.scss": "@use '../partial'; @use './b'; a { @include partial.m }", "/src/sub/_b.scss": "b { c: d }",
		"/node_modules/p/_a.scss":    "@use 'sub/b' as b; @use '../q/c'; a { b: package }",
		"/node_modules/p/sub/b.scss": "/*! b */",
		"/node_modules/q/c.scss":     "a { b: other }", "/lib/l.scss": "a { b: lib }", "/src/a b#?%.scss": "a { b: name }",
		"/src/dots.v1.scss": "a { b: dots }",
	})
	for source, want := range map[string]string{
		"$c: #123; a { &:hover { b: $c } }":           "a:hover{b:#123;}",
		"@use 'partial'; a { @include partial.m }":    "a{partial:red;}",
		"@use '_partial' as *; a { @include m }":      "a{partial:red;}",
		"@forward 'folder'":                           "a{b:index;}",
		"@use 'both'":                                 "a{b:use;}",
		"@import 'both'":                              "a{b:import;}",
		"@use 'plain'":                                "p{q:r;}",
		"@import 'plain.css', url(x), 'http://a.b/c'": "@import'plain.css';@importurl(x);@import'http://a.b/c';",
		"@use 'sub/a'":                                "b{c:d;}a{partial:red;}",
		"@use 'p/a'":                                  "/*!b*/a{b:other;}a{b:package;}",
		"@use 'pkg:p/a'":                              "/*!b*/a{b:other;}a{b:package;}",
		"@use 'l'":                                    "a{b:lib;}",
		"@use 'dots.v1'":                              "a{b:dots;}",
		"@use 'a%20b%23%3F%25' as n":                  "a{b:name;}",
		"@use 'sass:meta'; a { @include meta.load-css('l') }":   "aa{b:lib;}",
		"@use 'sass:math'; a { b: math.div(10px, 4) }":          "a{b:2.5px;}",
		"a { @apply p-4 hover:m-2; b: theme('colors.red') }":    "a{@applyp-4hover:m-2;b:theme(\"colors.red\");}",
		"a { content: 'é'; b: v-bind(c); @media (x) { d: e } }": `a{content:"é";b:v-bind(c);}@media(x){a{d:e;}}`,
		"@use 'sass:math'; a { b: math.random() > 1 }":          "a{b:false;}",
	} {
		css, err := c.Compile(SheetOf("/src/main.scss", []byte(source)))
		if err != nil || compact(css) != want {
			t.Errorf("%s: got %s, %v, want %s", source, compact(css), err, want)
		}
	}
	for want, s := range map[string]Sheet{
		"a{partial:red;}": {File: "/src/App.vue", Line: 7, Text: "@use 'partial'\na\n  @include partial.m", IsIndented: true},
		"a{partial:red}": {
			File: "/a.scss", Line: 1, Before: "@use 'src/partial';", Text: "a { @include partial.m }", IsCompressed: true,
		},
	} {
		if css, err := c.Compile(s); err != nil || compact(css) != want {
			t.Errorf("%+v: got %s, %v, want %s", s, css, err, want)
		}
	}
}

// Errors name the file and the line, also in files that a style sheet loads.
func TestErrors(t *testing.T) {
	t.Parallel()
	c := start(t, files{
		"/src/_bad.scss": "\n\na { b: $none }", "/src/x.scss": "a{}", "/src/_x.scss": "b{}", "/secret.scss": "a{}",
		"/src/loop.scss": "@use 'loop2';", "/src/loop2.scss": "@use 'loop';", "/src/self.scss": "@import 'self'",
		"/node_modules/p/reads.scss": "\n@use '../../src/bad';", "/node_modules/p/url.scss": "@use 'project:/src/x.scss';",
		"/node_modules/p/dynamic.scss": "@use 'sass:meta';\na { @include meta.load-css('project:/src/x.scss') }",
	})
	for source, want := range map[string]string{
		"a {\n  b: c":                        `BUILD_FAILED: /src/main.scss:2:7: Expected end of rule.`,
		"a {\n b: 1px + 1s }":                "BUILD_FAILED: /src/main.scss:2:5: 1px and 1s have incompatible units.",
		"@use 'bad'":                         "BUILD_FAILED: /src/_bad.scss:3:8: Undefined variable.",
		"\n@use 'x'":                         "BUILD_FAILED: /src/main.scss:2:1: The reference means both /src/x.scss and /src/_x.scss. Delete one of them, or write the extension.",
		"\n @import 'none'":                  "DEPENDENCY_NOT_FOUND: /src/main.scss:2:10: none is missing in /src/main.scss",
		"@use '../secret'":                   "BUILD_FAILED: /src/main.scss:1:1: The file is never bundled.",
		"@use 'loop'":                        "BUILD_FAILED: /src/loop2.scss:1:1: Module loop: this module is already being loaded.",
		"@import 'self'":                     "BUILD_FAILED: /src/self.scss:1:9: This file is already being loaded.",
		"@use 'p/reads'":                     "DEPENDENCY_NOT_FOUND: /node_modules/p/reads.scss:2:1: ../../src/bad is missing in /node_modules/p/reads.scss",
		"@use 'p/url'":                       "BUILD_FAILED: /node_modules/p/url.scss:1:1: A style sheet cannot be loaded by such a URL. Use a relative path.",
		"@use 'p/dynamic'":                   "BUILD_FAILED: /node_modules/p/dynamic.scss:2:5: A style sheet cannot be loaded by such a URL. Use a relative path.",
		"@use 'file:///etc/passwd'":          "BUILD_FAILED: /src/main.scss:1:1: not a path",
		"a { b: c }\n@error \"own message\"": `BUILD_FAILED: /src/main.scss:2:1: "own message".`,
	} {
		_, err := c.Compile(Sheet{File: "/src/main.scss", Text: source, Line: 1})
		if err == nil || err.Error() != want {
			t.Errorf("%q:\ngot  %v\nwant %s", source, err, want)
		}
	}
	_, err := c.Compile(Sheet{File: "/App.vue", Text: "a {\n b: $x }", Line: 10, Before: "$a: 1;\n$b: 2;"})
	if want := "BUILD_FAILED: /App.vue:11:5: Undefined variable."; fmt.Sprint(err) != want {
		t.Errorf("got %v, want %s", err, want)
	}
	_, err = c.Compile(Sheet{File: "/a.scss", Text: "a {}", Line: 1, Before: "$a: ;"})
	if want := "The code that the settings of the project add"; !strings.Contains(fmt.Sprint(err), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}

// Hostile style sheets end as errors that name their file, and change nothing in the next style sheet.
func TestHostile(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ source, want string }{
		"endless loop": {"@while true {}", "takes too long"},
		"recursion":    {"@function f($x) { @return f($x + 1) + 1 } a { b: f(1) }", "nested too deeply"},
		"nested rules": {strings.Repeat("a{", 5000) + strings.Repeat("}", 5000), "nested too deeply"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			compiler := start(t, files{})
			if c.want == "takes too long" {
				compiler.limit = 2 * time.Second
			}
			_, err := compiler.Compile(Sheet{File: "/a.scss", Text: c.source, Line: 1})
			f, ok := errors.AsType[*failure.Error](err)
			if !ok || f.Path != "/a.scss" || f.Line != 1 || !strings.Contains(f.Message, c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
			if css, err := compiler.Compile(SheetOf("/b.scss", []byte("a { b: c }"))); err == nil && compact(css) != "a{b:c;}" {
				t.Errorf("the next style sheet is %q", css)
			}
		})
	}
}
