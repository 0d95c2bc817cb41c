package scaffold

import (
	_ "embed"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"devplatform/shared/assistant/model"
)

// Ranges for packages that are asked for without one: a line each, name and range; of Go modules module and version.
var (
	//go:embed packages.txt
	npmRanges string
	//go:embed gomodules.txt
	goVersions string
)

var knownRanges = sync.OnceValue(func() map[string]string {
	known := map[string]string{}
	for line := range strings.Lines(npmRanges + goVersions) {
		if name, version, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			known[name] = version
		}
	}
	return known
})

// packageName is name of name@range; the @ of a scope is a part of the name.
func packageName(text string) string {
	if text == "" {
		return ""
	}
	if at := strings.IndexByte(text[1:], '@'); at >= 0 {
		return text[:at+1]
	}
	return text
}

var packagePattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(@[A-Za-z0-9~-][A-Za-z0-9._~-]*/)?[A-Za-z0-9~][A-Za-z0-9._~-]*$`)
})

func isPackageName(name string) bool {
	return len(name) > 1 && len(name) <= 214 && (packagePattern().MatchString(name) || isGoModule(name))
}

var modulePattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9-]+(\.[a-z0-9-]+)+(/[A-Za-z0-9._~-]+)+$`) })

// isGoModule reports a module's path: a host with a dot, and more behind it.
func isGoModule(name string) bool { return modulePattern().MatchString(name) }

func isScoped(name string) bool { return strings.HasPrefix(name, "@") && strings.Contains(name, "/") }

func isKnownPackage(name string) bool {
	_, ok := knownRanges()[strings.ToLower(name)]
	return ok
}

// nearest is the manifest of that name that the current file belongs to, else the one that is topmost; empty if there is none.
func (f facts) nearest(manifest string) string {
	above, topmost := "", ""
	for _, p := range f.paths {
		if path.Base(p) != manifest || strings.Contains(p, "/node_modules/") || strings.Contains(p, "/vendor/") {
			continue
		}
		if strings.HasPrefix(f.CurrentFile, strings.TrimSuffix(p, manifest)) && len(p) > len(above) {
			above = p
		}
		if topmost == "" || depth(p) < depth(topmost) {
			topmost = p
		}
	}
	return firstOf(above, topmost)
}

func depth(p string) int { return strings.Count(p, "/") }

// dependencies are what a package.json has by name; ok is false where its content is not known or not readable.
func (f facts) dependencies(manifest string) (have map[string]bool, ok bool) {
	i := slices.IndexFunc(f.Files, func(g model.File) bool { return g.Path == manifest })
	if i < 0 || f.Files[i].Cut {
		return nil, false
	}
	var content struct {
		Dependencies    map[string]jsontext.Value `json:"dependencies"`
		DevDependencies map[string]jsontext.Value `json:"devDependencies"`
	}
	if json.Unmarshal([]byte(f.Files[i].Content), &content) != nil {
		return nil, false
	}
	have = map[string]bool{}
	for name := range content.Dependencies {
		have[name] = true
	}
	for name := range content.DevDependencies {
		have[name] = true
	}
	return have, true
}

// addition are packages on their way into manifests.
type addition struct {
	npm, modules []string // with ranges
	noVersion    []string // modules without a version
	latest       []string // packages that get npm's latest
	dropped      []string // not names of packages
}

// sortPackages finds out what each package is and which range it gets.
func sortPackages(words []word) addition {
	var a addition
	for _, w := range words {
		text := strings.TrimRight(w.text, "@")
		name := packageName(text)
		version := strings.TrimPrefix(strings.TrimPrefix(text, name), "@")
		known := knownRanges()[strings.ToLower(name)]
		switch {
		case isGoModule(name) && firstOf(version, known) == "":
			a.noVersion = append(a.noVersion, name)
		case isGoModule(name):
			a.modules = append(a.modules, name+"@"+firstOf(version, known))
		case !isPackageName(name):
			a.dropped = append(a.dropped, w.text)
		default:
			if version == "" && known == "" {
				a.latest = append(a.latest, name)
			}
			if known != "" && version == "" {
				name = strings.ToLower(name)
			}
			a.npm = append(a.npm, name+"@"+firstOf(version, known, "latest"))
		}
	}
	return a
}

// install answers a request for packages.
func (c *conversation) install(in intent) {
	if len(in.packages) > mostPackages {
		c.note("I took in the first %d packages only.", mostPackages)
		in.packages = in.packages[:mostPackages]
	}
	a := sortPackages(in.packages)
	if len(in.packages) == 0 {
		c.say("Which package? For example: “add zod” or “install axios@^1.7 and lodash”.")
		return
	}
	for _, set := range []struct {
		manifest string
		packages []string
	}{{"package.json", a.npm}, {"go.mod", a.modules}} {
		if len(set.packages) == 0 {
			continue
		}
		c.addTo(set.manifest, set.packages)
	}
	if len(a.latest) > 0 {
		c.note("I know no range for %s, so the manifest asks for `latest`.", codeList(a.latest))
	}
	if len(a.noVersion) > 0 {
		c.note("For a Go module I need a version, because I can't look one up: `%s@v1.2.3`, for example.", a.noVersion[0])
	}
	if len(a.dropped) > 0 {
		c.note("%s can't be the name of a package.", codeList(a.dropped))
	}
}

// addTo adds packages to the nearest manifest.
func (c *conversation) addTo(manifest string, packages []string) {
	at := c.facts.nearest(manifest)
	if at == "" {
		other := map[string]string{"package.json": "go.mod", "go.mod": "package.json"}[manifest]
		if has := c.facts.nearest(other); has != "" {
			c.say("The project has no `%s`, only `%s`, so I can't add %s.%s", manifest, has, codeList(packages), map[string]string{
				"go.mod": " For a Go module give its path and version, such as `github.com/google/uuid@v1.6.0`."}[other])
			return
		}
		c.say("The project has no `%s` that I could add %s to.", manifest, codeList(packages))
		return
	}
	have, _ := c.facts.dependencies(at)
	packages = slices.DeleteFunc(slices.Clone(packages), func(p string) bool {
		known := have[packageName(p)] && (strings.HasSuffix(p, "@latest") || strings.HasSuffix(p, "@"+knownRanges()[packageName(p)]))
		if known {
			c.say("`%s` already has `%s`.", at, packageName(p))
		}
		return known
	})
	if len(packages) == 0 {
		return
	}
	c.used(at)
	c.steps = append(c.steps, step{
		name: "adding " + codeList(packages), says: fmt.Sprintf("I add %s to `%s`; install it before the next run.", codeList(packages), at),
		needs: packages, manifest: at,
	})
}

// codeList writes names as code for a sentence.
func codeList(names []string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = code(n)
	}
	return andList(quoted)
}

func andList(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// code is a text as inline code of Markdown.
func code(s string) string {
	s = strings.ReplaceAll(strings.ReplaceAll(s, "`", "'"), "\n", " ")
	return "`" + clip(s, 200) + "`"
}
