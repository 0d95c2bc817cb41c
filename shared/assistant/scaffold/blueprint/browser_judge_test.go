package blueprint

import (
	"encoding/json"
	"fmt"
	"go/format"
	"go/parser"
	"go/token"
	"html/template"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	esbuild "github.com/evanw/esbuild/pkg/api"
	"pgregory.net/rapid"

	projectpath "devplatform/shared/project/path"
)

// judged are the frameworks whose files take more than esbuild to judge.
var judged = []Framework{Vue, Svelte, Go, Static}

// kitPaths are what makes a Svelte project one of SvelteKit.
var kitPaths = []string{"/package.json", "/src/app.html", "/src/routes/+page.svelte"}

// block is a script or style of a component.
var block = regexp.MustCompile(`(?s)<(script|style)([^>]*)>\n(.*?)</(?:script|style)>`)

// faults are what is wrong with a Result: what it promises, its text's form, what can be said of each file by itself, and whether what
// the files import exists, which takes longest and is looked at if they are to be bundled.
func faults(s Spec, r Result, bundled bool) []string {
	var found []string
	say := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	if len(r.Files) == 0 || r.Says == "" {
		say("no files, or nothing said")
	}
	scripts := map[string]string{}
	for _, file := range r.Files {
		if rule := projectpath.Check(file.Path); rule != "" {
			say("%s: %s", file.Path, rule)
		}
		if slices.Contains(s.Paths, file.Path) || scripts[file.Path] != "" {
			say("%s exists", file.Path)
		}
		if problems := formOf(file); problems != "" {
			say("%s: %s\n%s", file.Path, problems, file.Content)
		}
		script, problems := scriptOf(s, file)
		scripts[file.Path] = script
		found = append(found, problems...)
	}
	if bundled && s.Framework != Go {
		found = append(found, connections(s, r, scripts)...)
	}
	return found
}

// formOf is what is wrong with a file's text.
func formOf(file File) string {
	content := file.Content
	if !strings.HasSuffix(content, "\n") || strings.HasSuffix(content, "\n\n") || strings.HasPrefix(content, "\n") {
		return "begins or ends untidily"
	}
	for _, line := range strings.Split(content, "\n") {
		if strings.TrimRight(line, " \t\r") != line {
			return "spaces at the end of " + line
		}
	}
	for _, bad := range []string{"<no value>", "%!", "TODO", "\n\n\n", "{\n\n", "<%", "%>", ";;", "()\n\n\n"} {
		if strings.Contains(content, bad) {
			return fmt.Sprintf("contains %q", bad)
		}
	}
	return ""
}

// scriptOf judges a file by itself and returns its JavaScript, if it has any.
func scriptOf(s Spec, file File) (script string, problems []string) {
	switch path.Ext(file.Path) {
	case ".vue", ".svelte":
		script = "export default {};\n"
		for _, part := range block.FindAllStringSubmatch(file.Content, -1) {
			name := file.Path + ".css"
			if part[1] == "script" {
				name = file.Path + ".js"
				if strings.Contains(part[2], "ts") {
					name = file.Path + ".ts"
				}
			}
			code, found := compiled(File{name, part[3]})
			problems = append(problems, found...)
			if part[1] == "script" {
				script += code
			}
		}
		return script, problems
	case ".go":
		return "", goFaults(file)
	case ".html":
		if s.Framework == Go {
			if _, err := template.New("").Parse(file.Content); err != nil {
				problems = append(problems, file.Path+": "+err.Error())
			}
			return "", problems
		}
		return "", htmlFaults(file.Path, file.Content)
	}
	return compiled(file)
}

func goFaults(file File) []string {
	if _, err := parser.ParseFile(token.NewFileSet(), file.Path, file.Content, parser.SkipObjectResolution); err != nil {
		return []string{err.Error() + "\n" + file.Content}
	}
	if formatted, err := format.Source([]byte(file.Content)); err != nil || string(formatted) != file.Content {
		return []string{file.Path + " is not as gofmt writes it"}
	}
	return nil
}

// compiled is a file as plain JavaScript, with nothing left out that it imports.
func compiled(file File) (string, []string) {
	r := esbuild.Transform(file.Content, esbuild.TransformOptions{
		Loader: loaderOf(file.Path), Sourcefile: file.Path, LogLevel: esbuild.LogLevelSilent, TsconfigRaw: `{"compilerOptions":{"verbatimModuleSyntax":true}}`,
	})
	found := messages("transform "+file.Path, r.Errors, r.Warnings)
	if len(found) > 0 {
		found = append(found, file.Content)
	}
	if slices.Contains([]string{".css", ".json"}, path.Ext(file.Path)) {
		return file.Content, found
	}
	return string(r.Code), found
}

// connections has esbuild resolve what the files import, and compares the packages among that with those that the Result names.
func connections(s Spec, r Result, scripts map[string]string) []string {
	all := map[string]string{}
	for _, p := range s.Paths {
		all[p] = "export default {};\n"
	}
	var entries []esbuild.EntryPoint
	for i, file := range r.Files {
		all[file.Path] = scripts[file.Path]
		lib, _, _ := strings.Cut(file.Path, "/src/")
		for _, other := range r.Files {
			if inLib, ok := strings.CutPrefix(other.Path, lib+"/src/lib/"); ok {
				for _, name := range []string{inLib, stem(inLib)} {
					all[file.Path] = strings.ReplaceAll(all[file.Path], `"$lib/`+name+`"`, `"`+importPath(file.Path, lib+"/src/lib/"+name)+`"`)
				}
			}
		}
		if !slices.Contains([]string{".html", ".css"}, path.Ext(file.Path)) {
			entries = append(entries, esbuild.EntryPoint{InputPath: file.Path, OutputPath: fmt.Sprint("out", i)})
		}
	}
	result := esbuild.Build(esbuild.BuildOptions{
		EntryPointsAdvanced: entries, Bundle: true, Write: false, Metafile: true, Outdir: "/out", Format: esbuild.FormatESModule, Platform: esbuild.PlatformNode,
		LogLevel: esbuild.LogLevelSilent, Plugins: []esbuild.Plugin{memory(all)},
	})
	if found := messages("bundle", result.Errors, result.Warnings); len(found) > 0 {
		return found
	}
	return packageFaults(s, r, result.Metafile)
}

func packageFaults(s Spec, r Result, metafile string) []string {
	var meta struct {
		Inputs map[string]struct {
			Imports []struct {
				Path     string
				External bool
			}
		}
	}
	if err := json.Unmarshal([]byte(metafile), &meta); err != nil {
		return []string{err.Error()}
	}
	wanted := map[string]bool{}
	for _, input := range meta.Inputs {
		for _, i := range input.Imports {
			if i.External && !strings.HasPrefix(i.Path, "node:") {
				wanted[regexp.MustCompile(`^(@[^/]+/)?[^/]+`).FindString(i.Path)] = true
			}
		}
	}
	for _, has := range []string{"vue", "svelte", "@sveltejs/kit"} { // new projects have them
		delete(wanted, has)
	}
	for _, file := range r.Files {
		if strings.HasPrefix(file.Content, "// @vitest-environment jsdom\n") {
			wanted["jsdom"] = true
		}
	}
	var found []string
	for _, named := range r.Packages {
		name := named[:strings.LastIndex(named, "@")]
		if !wanted[name] {
			found = append(found, "nothing imports "+name)
		}
		delete(wanted, name)
	}
	for name := range wanted {
		found = append(found, name+" is imported, but not among the packages of a "+string(s.Framework)+" project")
	}
	return found
}

// everyVariant calls do with each variant of the frameworks.
func everyVariant(t *testing.T, do func(title string, s Spec, r Result)) {
	t.Helper()
	for _, f := range judged {
		projects := [][]string{nil}
		if f == Svelte {
			projects = append(projects, kitPaths)
		}
		for i, paths := range projects {
			for j, v := range variantsOf(f, paths) {
				r, err := Make(v.spec)
				if err != nil {
					t.Fatalf("%s %s: %v", f, v.name, err)
				}
				do(fmt.Sprintf("%s%d/%03d-%s", f, i, j, v.name), v.spec, r)
			}
		}
	}
}

func TestEveryVariantIsSound(t *testing.T) {
	t.Parallel()
	n := 0
	everyVariant(t, func(title string, s Spec, r Result) {
		if n++; n%min(*stride, 3) != 0 {
			return
		}
		if found := faults(s, r, n%min(*stride, 5) == 0); len(found) > 0 {
			t.Fatalf("%s:\n%s", title, strings.Join(found, "\n"))
		}
		if again, _ := Make(s); !reflect.DeepEqual(r, again) {
			t.Errorf("%s: another result the second time", title)
		}
	})
}

func TestSoundWhateverTheSpec(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := anySpec(t, judged)
		if rapid.Bool().Draw(t, "kit") {
			s.Paths = append(s.Paths, kitPaths...)
		}
		for range 2 { // the second stands beside the first
			r, err := Make(s)
			if err != nil {
				t.Fatalf("%+v: %v", s, err)
			}
			if found := faults(s, r, true); len(found) > 0 {
				t.Fatalf("%+v:\n%s", s, strings.Join(found, "\n"))
			}
			s.Paths = append(s.Paths, pathsOf(r.Files)...)
		}
	})
}
