package scaffold

import (
	"path"
	"slices"
	"strings"

	"devplatform/shared/assistant/scaffold/blueprint"
)

// frameworkNames are the frameworks' proper names, in the order of the constants in package blueprint.
var frameworkNames = []struct {
	framework blueprint.Framework
	name      string
}{
	{blueprint.React, "React"}, {blueprint.Next, "Next.js"}, {blueprint.Vue, "Vue"}, {blueprint.Svelte, "Svelte"},
	{blueprint.Express, "Express"}, {blueprint.Go, "Go (net/http)"}, {blueprint.Static, "static HTML"},
}

func properName(f blueprint.Framework) string {
	for _, n := range frameworkNames {
		if n.framework == f {
			return n.name
		}
	}
	return string(f)
}

// knownFrameworks lists them for a sentence.
func knownFrameworks() string {
	var names []string
	for _, n := range frameworkNames {
		names = append(names, n.name)
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// frameworkIn is the framework that words name: one with blueprints, or the name of another.
func frameworkIn(words []word) (known blueprint.Framework, other string) {
	for i, w := range words {
		if w.quoted {
			continue
		}
		if w.low == "react" && i+1 < len(words) && words[i+1].low == "native" {
			return "", otherFrameworks.of("react-native")
		}
		if name, ok := otherFrameworks.look(w.low); ok && isTarget(words, i) {
			other = firstOf(other, name)
			continue
		}
		if f, ok := frameworkWords.look(w.low); ok && (known == "" || known == blueprint.React && f == blueprint.Next) {
			known = f
		}
	}
	if known != "" || other != "" {
		if known != "" {
			other = ""
		}
		return known, other
	}
	for i := range words {
		if f, ok := ambiguousAt(words, i); ok {
			return f, ""
		}
	}
	return "", ""
}

// isTarget reports that a name of a framework says what to write in, and is no name of a thing, such as a Python course page.
func isTarget(words []word, i int) bool {
	if i == 0 || inWords.of(words[i-1].low) || words[i-1].low == "with" || determiners.of(words[i-1].low) {
		return true
	}
	if i+1 < len(words) {
		_, kind := thingOf(words[i+1])
		return kind
	}
	return false
}

// frameworkNamed is the framework of a project's or a caller's setting, however it is spelt; ok is false for one that is not known.
func frameworkNamed(setting string) (f blueprint.Framework, ok bool) {
	low := strings.ToLower(strings.TrimSpace(setting))
	if f, ok := frameworkWords.look(low); ok {
		return f, true
	}
	switch low {
	case "next":
		return blueprint.Next, true
	case "express", "node", "nodejs", "node.js":
		return blueprint.Express, true
	case "go", "net/http":
		return blueprint.Go, true
	case "static", "html", "static html", "plain html", "vanilla js":
		return blueprint.Static, true
	}
	return "", false
}

// guessFramework goes by the files that a project has; empty if they say nothing.
func guessFramework(paths []string) blueprint.Framework {
	signs := []struct {
		framework blueprint.Framework
		holds     func(base, ext string) bool
	}{
		{blueprint.Next, func(base, _ string) bool { return strings.HasPrefix(base, "next.config.") || base == "next-env.d.ts" }},
		{blueprint.Svelte, func(base, ext string) bool { return ext == ".svelte" || strings.HasPrefix(base, "svelte.config.") }},
		{blueprint.Vue, func(base, ext string) bool { return ext == ".vue" || strings.HasPrefix(base, "vue.config.") }},
		{blueprint.React, func(_, ext string) bool { return ext == ".jsx" || ext == ".tsx" }},
		{blueprint.Go, func(base, ext string) bool { return base == "go.mod" || ext == ".go" }},
		{blueprint.Express, func(base, _ string) bool {
			return slices.Contains([]string{"server.js", "server.ts", "server.mjs", "app.js", "app.ts"}, base)
		}},
		{blueprint.Static, func(_, ext string) bool { return ext == ".html" }},
	}
	for _, sign := range signs {
		for _, p := range paths {
			if sign.holds(path.Base(p), path.Ext(p)) {
				return sign.framework
			}
		}
	}
	return ""
}

// usesTypeScript reports a project in TypeScript.
func usesTypeScript(paths []string) bool {
	return slices.ContainsFunc(paths, func(p string) bool {
		ext := path.Ext(p)
		return ext == ".ts" && !strings.HasSuffix(p, ".d.ts") && !strings.Contains(path.Base(p), ".config.") || ext == ".tsx" || path.Base(p) == "tsconfig.json"
	})
}

// typeScriptIn is what words say of the language: 1 for TypeScript, -1 for JavaScript, 0 for nothing.
func typeScriptIn(words []word) int {
	for _, w := range words {
		switch {
		case w.quoted:
		case typeScript.of(w.low):
			return 1
		case javaScript.of(w.low):
			return -1
		}
	}
	return 0
}
