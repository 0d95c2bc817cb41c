package blueprint

import (
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	esbuild "github.com/evanw/esbuild/pkg/api"

	projectpath "devplatform/shared/project/path"
)

// baseOf are the packages that a new project of the framework has.
func baseOf(f Framework) []string {
	switch f {
	case React:
		return []string{"react", "react-dom", "vite", "@vitejs/plugin-react"}
	case Next:
		return []string{"next", "react", "react-dom"}
	case Express:
		return []string{"express"}
	}
	return nil
}

// companions are packages that no file imports by name: what a test's environment and another package's types need.
func isCompanion(name string) bool {
	return name == "jsdom" || name == "@testing-library/dom" || strings.HasPrefix(name, "@types/")
}

// problems are what is wrong with a Result of a framework of scripts: what it promises, its text's form, and what esbuild says of each
// file and of all together.
func problems(s Spec, r Result) []string {
	var found []string
	say := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	if len(r.Files) == 0 || r.Says == "" {
		say("no files, or nothing said")
	}
	files := map[string]string{}
	for _, file := range r.Files {
		if rule := projectpath.Check(file.Path); rule != "" {
			say("%s: %s", file.Path, rule)
		}
		if slices.Contains(s.Paths, file.Path) || files[file.Path] != "" {
			say("%s exists", file.Path)
		}
		files[file.Path] = file.Content
		found = append(found, untidy(file)...)
		found = append(found, transform(file)...)
	}
	for _, a := range r.Files {
		for _, b := range append(slices.Clone(s.Paths), pathsOf(r.Files)...) {
			if strings.HasPrefix(b, a.Path+"/") || strings.HasPrefix(a.Path, b+"/") && slices.Contains(pathsOf(r.Files), b) {
				say("%s and %s can't both be", a.Path, b)
			}
		}
	}
	return append(found, bundle(s, r, files)...)
}

func pathsOf(files []File) []string {
	var paths []string
	for _, file := range files {
		paths = append(paths, file.Path)
	}
	return paths
}

// untidy is what is wrong with a file's text.
func untidy(file File) []string {
	var found []string
	say := func(what string) { found = append(found, file.Path+": "+what+"\n"+file.Content) }
	if !strings.HasSuffix(file.Content, "\n") || strings.HasSuffix(file.Content, "\n\n") || strings.HasPrefix(file.Content, "\n") {
		say("begins or ends untidily")
	}
	for _, line := range strings.Split(file.Content, "\n") {
		if strings.TrimRight(line, " \t\r") != line {
			say("spaces at the end of " + line)
		}
		indent := len(line) - len(strings.TrimLeft(line, " "))
		if indent%2 != 0 && !strings.HasPrefix(line[indent:], "*") || strings.HasPrefix(line, "\t") {
			say("odd indentation of " + line)
		}
	}
	for _, bad := range []string{"<no value>", "%!", "TODO", "\n\n\n", "{\n\n", "\n\n}", "\n\n  }\n", "(\n\n", "<%", "%>", ";;"} {
		if strings.Contains(file.Content, bad) {
			say(fmt.Sprintf("contains %q", bad))
		}
	}
	return found
}

func loaderOf(file string) esbuild.Loader {
	switch path.Ext(file) {
	case ".jsx":
		return esbuild.LoaderJSX
	case ".tsx":
		return esbuild.LoaderTSX
	case ".ts", ".mts", ".cts":
		return esbuild.LoaderTS
	case ".css":
		if strings.HasSuffix(file, ".module.css") {
			return esbuild.LoaderLocalCSS
		}
		return esbuild.LoaderCSS
	case ".json":
		return esbuild.LoaderJSON
	}
	return esbuild.LoaderJS
}

func messages(of string, lists ...[]esbuild.Message) []string {
	var found []string
	for _, list := range lists {
		for _, m := range list {
			text := of + ": " + m.Text
			if m.Location != nil {
				text += fmt.Sprintf(" (%s:%d: %s)", m.Location.File, m.Location.Line, m.Location.LineText)
			}
			found = append(found, text)
		}
	}
	return found
}

func transform(file File) []string {
	r := esbuild.Transform(file.Content, esbuild.TransformOptions{Loader: loaderOf(file.Path), Sourcefile: file.Path, JSX: esbuild.JSXAutomatic, LogLevel: esbuild.LogLevelSilent})
	found := messages("transform "+file.Path, r.Errors, r.Warnings)
	if len(found) > 0 {
		found = append(found, file.Content)
	}
	return found
}

// bundle has esbuild resolve what the files import from each other and from what exists, and compares the packages that they import
// with those that the Result names.
func bundle(s Spec, r Result, files map[string]string) []string {
	all := map[string]string{}
	for _, p := range s.Paths {
		all[p] = "export default function Existing() { return null; }\nexport const router = null, useExisting = null;\n"
	}
	if s.SubjectPath != "" {
		name := strings.TrimSuffix(path.Base(s.SubjectPath), path.Ext(s.SubjectPath))
		all[s.SubjectPath] = "export default function Existing() { return null; }\n"
		if isHookName(name) {
			all[s.SubjectPath] += "export function " + name + "() { return 1; }\n"
		}
	}
	for p, content := range files {
		all[p] = content
	}
	var entries []esbuild.EntryPoint
	for i, file := range r.Files {
		entries = append(entries, esbuild.EntryPoint{InputPath: file.Path, OutputPath: fmt.Sprint("out", i)})
	}
	result := esbuild.Build(esbuild.BuildOptions{
		EntryPointsAdvanced: entries, Bundle: true, Write: false, Metafile: true, Outdir: "/out", Format: esbuild.FormatESModule, Platform: esbuild.PlatformNode,
		JSX: esbuild.JSXAutomatic, LogLevel: esbuild.LogLevelSilent, Plugins: []esbuild.Plugin{memory(all)},
	})
	found := messages("bundle", result.Errors, result.Warnings)
	if len(result.Errors) > 0 {
		return found
	}
	return append(found, comparePackages(s, r, result.Metafile)...)
}

func comparePackages(s Spec, r Result, metafile string) []string {
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
			if !i.External || strings.HasPrefix(i.Path, "node:") {
				continue
			}
			parts := strings.SplitN(i.Path, "/", 3)
			name := parts[0]
			if strings.HasPrefix(name, "@") {
				name += "/" + parts[1]
			}
			if !slices.Contains(baseOf(s.Framework), name) {
				wanted[name] = true
			}
		}
	}
	var found []string
	for _, named := range r.Packages {
		if !regexp.MustCompile(`^(@[a-z0-9-]+/)?[a-z0-9-]+@\^\d+\.\d+\.\d+$`).MatchString(named) {
			found = append(found, "the package "+named)
		}
		name := named[:strings.LastIndex(named, "@")]
		if !wanted[name] && !isCompanion(name) {
			found = append(found, "nothing imports "+name)
		}
		delete(wanted, name)
	}
	for name := range wanted {
		found = append(found, name+" is imported, but not among the packages")
	}
	return found
}

// memory is a file system of esbuild's that has the files and nothing else; all packages are external.
func memory(files map[string]string) esbuild.Plugin {
	return esbuild.Plugin{Name: "memory", Setup: func(b esbuild.PluginBuild) {
		b.OnResolve(esbuild.OnResolveOptions{Filter: ".*"}, func(a esbuild.OnResolveArgs) (esbuild.OnResolveResult, error) {
			if a.Kind != esbuild.ResolveEntryPoint && !strings.HasPrefix(a.Path, ".") {
				return esbuild.OnResolveResult{Path: a.Path, External: true}, nil
			}
			target := a.Path
			if a.Kind != esbuild.ResolveEntryPoint {
				target = path.Join(path.Dir(a.Importer), a.Path)
			}
			candidates := []string{target}
			for _, extension := range []string{".tsx", ".ts", ".jsx", ".js", "/index.ts", "/index.js"} {
				candidates = append(candidates, target+extension)
			}
			if stem, ok := strings.CutSuffix(target, ".js"); ok {
				candidates = append(candidates, stem+".ts", stem+".tsx")
			}
			for _, candidate := range candidates {
				if _, ok := files[candidate]; ok {
					return esbuild.OnResolveResult{Path: candidate, Namespace: "memory"}, nil
				}
			}
			return esbuild.OnResolveResult{}, fmt.Errorf("%s imports %s, which does not exist", a.Importer, a.Path)
		})
		b.OnLoad(esbuild.OnLoadOptions{Filter: ".*", Namespace: "memory"}, func(a esbuild.OnLoadArgs) (esbuild.OnLoadResult, error) {
			content := files[a.Path]
			return esbuild.OnLoadResult{Contents: &content, Loader: loaderOf(a.Path)}, nil
		})
	}}
}
