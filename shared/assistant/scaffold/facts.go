package scaffold

import (
	"path"
	"slices"
	"strings"

	"devplatform/shared/assistant/model"
	"devplatform/shared/assistant/scaffold/blueprint"
)

// facts are a request's, with the project's paths as the answer's steps leave them.
type facts struct {
	model.Facts
	paths []string
}

// factsOf makes all text valid and the paths sorted, so that answers don't depend on their order.
func factsOf(f model.Facts) facts {
	for _, text := range []*string{&f.Prompt, &f.Framework, &f.Language, &f.CurrentFile, &f.Summary} {
		*text = strings.ToValidUTF8(*text, "�")
	}
	paths := make([]string, 0, len(f.Paths)+len(f.Files))
	for _, p := range f.Paths {
		paths = append(paths, strings.ToValidUTF8(p, "�"))
	}
	for _, file := range f.Files {
		paths = append(paths, strings.ToValidUTF8(file.Path, "�"))
	}
	slices.Sort(paths)
	return facts{Facts: f, paths: slices.Compact(paths)}
}

// has reports whether the project has the file.
func (f facts) has(p string) bool {
	_, ok := slices.BinarySearch(f.paths, p)
	return ok
}

// hasFolder reports whether files lie in the folder.
func (f facts) hasFolder(folder string) bool {
	prefix := strings.TrimSuffix(folder, "/") + "/"
	i, _ := slices.BinarySearch(f.paths, prefix)
	return i < len(f.paths) && strings.HasPrefix(f.paths[i], prefix)
}

// add and drop keep the paths as the steps leave them.
func (f *facts) add(p string) {
	if i, ok := slices.BinarySearch(f.paths, p); !ok {
		f.paths = slices.Insert(slices.Clone(f.paths), i, p)
	}
}

func (f *facts) drop(p string) {
	if i, ok := slices.BinarySearch(f.paths, p); ok {
		f.paths = slices.Delete(slices.Clone(f.paths), i, i+1)
	}
}

// file is the content of a file that the request has.
func (f facts) file(p string) (model.File, bool) {
	for _, file := range f.Files {
		if file.Path == p {
			return file, true
		}
	}
	return model.File{}, false
}

// find is the files that a word may mean: the one of that path, else all whose path ends so, else, for words that could be a name,
// all whose name without extensions is that.
func (f facts) find(w word) []string {
	text := strings.TrimPrefix(w.text, "./")
	if exact := "/" + strings.TrimPrefix(text, "/"); f.has(exact) {
		return []string{exact}
	}
	if strings.HasPrefix(w.text, "/") {
		return nil
	}
	var ends, fold []string
	for _, p := range f.paths {
		switch {
		case strings.HasSuffix(p, "/"+text):
			ends = append(ends, p)
		case strings.HasSuffix(strings.ToLower(p), "/"+strings.ToLower(text)):
			fold = append(fold, p)
		}
	}
	if len(ends) == 0 {
		ends = fold
	}
	return ends
}

// findStem is the files whose name without extensions is a name's: Button, button, LoginForm of "login form".
func (f facts) findStem(name []string) []string {
	wanted := strings.Join(name, "")
	if wanted == "" {
		return nil
	}
	var out []string
	for _, p := range f.paths {
		base := path.Base(p)
		if dot := strings.IndexByte(base, '.'); dot > 0 {
			base = base[:dot]
		}
		if strings.Join(parts(base), "") == wanted {
			out = append(out, p)
		}
	}
	return out
}

// isTestPath reports a file that holds tests.
func isTestPath(p string) bool {
	base := strings.ToLower(path.Base(p))
	return strings.Contains(base, ".test.") || strings.Contains(base, ".spec.") || strings.HasSuffix(base, "_test.go") || strings.Contains(p, "/__tests__/")
}

// isSource reports a file that a test can be about.
func isSource(p string) bool {
	switch path.Ext(p) {
	case ".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".vue", ".svelte", ".go", ".html":
		return !isTestPath(p) && !strings.HasSuffix(p, ".d.ts")
	}
	return false
}

// kindOfPath guesses from its place and name what a file holds.
func kindOfPath(p string) (blueprint.Kind, string) {
	low := strings.ToLower(p)
	base := path.Base(p)
	if dot := strings.IndexByte(base, '.'); dot > 0 {
		base = base[:dot]
	}
	name := parts(base)
	last := ""
	if len(name) > 0 {
		last = name[len(name)-1]
	}
	holds := func(folders ...string) bool {
		return slices.ContainsFunc(folders, func(f string) bool { return strings.Contains(low, "/"+f+"/") })
	}
	switch {
	case len(name) > 1 && name[0] == "use" || holds("hooks", "composables"):
		return blueprint.Utility, "hook"
	case holds("stores", "store") || last == "store":
		return blueprint.Utility, "store"
	case last == "form":
		return blueprint.Form, ""
	case last == "list" || last == "table":
		return blueprint.List, ""
	case base == "route" || base == "+server" || holds("api", "handlers", "controllers") || path.Ext(p) != ".svelte" && path.Ext(p) != ".vue" && holds("routes"):
		return blueprint.Endpoint, ""
	case base == "page" || base == "+page" || holds("pages", "views", "screens"):
		return blueprint.Page, ""
	case last == "client":
		return blueprint.Utility, "client"
	case holds("utils", "util", "lib", "helpers", "shared"):
		return blueprint.Utility, "helper"
	case path.Ext(p) == ".jsx" || path.Ext(p) == ".tsx" || path.Ext(p) == ".vue" || path.Ext(p) == ".svelte" || holds("components", "partials"):
		return blueprint.Component, ""
	case path.Ext(p) == ".html":
		return blueprint.Page, ""
	}
	return blueprint.Utility, "helper"
}
