package build

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// settings are the values of vite.config that a build honors. The file is a program, which is not run: evaluate.go
// reads the values that are constants.
type settings struct {
	root, publicDir string            // folders of the project, such as "/client"; "" if they are not set
	aliases         []alias           // of paths
	packages        map[string]string // aliases of packages, such as react for preact/compat
	define          map[string]string // JavaScript by name
	warnings        []string
}

var viteConfigs = []string{
	"/vite.config.js", "/vite.config.mjs", "/vite.config.ts", "/vite.config.cjs", "/vite.config.mts", "/vite.config.cts",
}

// readSettings returns the settings of the project.
func (t *tree) readSettings(env map[string]any) settings {
	s := settings{packages: map[string]string{}, define: map[string]string{}}
	for _, name := range viteConfigs {
		if !t.has(name) {
			continue
		}
		text, err := t.read(name)
		if err == nil {
			s.read(name, trimBOM(text), env)
		}
		break
	}
	return s
}

// ignored are the options of Vite that change nothing about the output of a build here, or whose plugins are known.
var ignored = wordSet(`plugins server preview build optimizeDeps css test esbuild worker ssr mode appType clearScreen
	logLevel cacheDir json oxc devtools legacy future environments customLogger`)

// read reads vite.config. What it does not understand is a warning with its line, up to maxWarnings.
func (s *settings) read(name string, text []byte, env map[string]any) {
	warn := func(key, format string, args ...any) {
		if len(s.warnings) >= maxWarnings {
			return // finding the line of each of many keys would take too long
		}
		s.warnings = append(s.warnings, fmt.Sprintf("%s:%d: ", name, lineOf(text, key))+fmt.Sprintf(format, args...))
	}
	// esbuild evaluates templates and other constants.
	code := api.Transform(string(text), api.TransformOptions{
		Loader: api.LoaderTS, Target: api.ES2022, LogLevel: api.LogLevelSilent, Charset: api.CharsetUTF8, MinifySyntax: true,
		Define: configConstants(name, env),
	})
	config, ok := evaluateConfig(code.Code, env)
	if len(code.Errors) > 0 || !ok {
		warn("", "The settings are not understood, so the build ignores them. Write them as an object of constants.")
		return
	}
	for _, key := range config.keys {
		value := config.fields[key]
		text, isText := value.(string)
		switch {
		case ignored[key]:
		case key == "base" && isText:
			if text != "/" && text != "./" && text != "" {
				warn(key, "base is %s, but a site is served at /, so it is built for /.", quote(text))
			}
		case key == "root" && isText:
			s.root = strings.TrimSuffix(path.Join("/", text), "/")
		case key == "publicDir" && isText:
			s.publicDir = text
		case key == "resolve":
			s.readAliases(value, warn)
		case key == "define":
			s.readDefine(value, warn)
		default:
			warn(key, "The option %s is not understood, so the build ignores it.", key)
		}
	}
}

// configConstants returns what a configuration knows about its place and its environment: JavaScript values by name.
func configConstants(name string, env map[string]any) map[string]string {
	all := map[string]string{
		"__dirname": `"/"`, "__filename": quoteJSON(name), "import.meta.dirname": `"/"`,
		"import.meta.filename": quoteJSON(name), "import.meta.url": quoteJSON("file://" + name),
		"process.env.NODE_ENV": `"production"`,
	}
	for name, value := range env {
		if isPublicVariable(name) {
			all["process.env."+name] = quoteJSON(value)
		}
	}
	return all
}

// lineOf returns the line of a key in the text of an object.
func lineOf(text []byte, key string) int {
	at := regexp.MustCompile(`["']?` + regexp.QuoteMeta(key) + `["']?\s*[:,(}]`).FindIndex(text)
	if key == "" || at == nil {
		return 1
	}
	return 1 + strings.Count(string(text[:at[0]]), "\n")
}

type warnFunc func(key, format string, args ...any)

func (s *settings) readAliases(value any, warn warnFunc) {
	resolve, ok := value.(*object)
	if !ok {
		warn("resolve", "resolve is not understood, so the build ignores it.")
		return
	}
	switch all := resolve.fields["alias"].(type) {
	case nil:
	case *object:
		for _, find := range all.keys {
			s.addAlias(find, all.fields[find], warn)
		}
	case []any:
		for _, item := range all {
			entry, _ := item.(*object)
			if entry == nil {
				entry = &object{}
			}
			if find, isText := entry.fields["find"].(string); isText {
				s.addAlias(find, entry.fields["replacement"], warn)
			} else {
				warn("find", "An alias is not understood, so the build ignores it. Write its name as a text.")
			}
		}
	default:
		warn("alias", "resolve.alias is not understood, so the build ignores it. Write it as an object of constants.")
	}
}

// addAlias adds an alias: of the text itself, and of what follows a slash after it.
func (s *settings) addAlias(find string, replacement any, warn warnFunc) {
	to, ok := replacement.(string)
	switch {
	case !ok || find == "" || strings.Contains(find, "*"):
		warn(find, "The alias %s is not understood, so the build ignores it. Write its folder as a constant, such as "+
			"\"/src\".", quote(find))
	case strings.HasPrefix(to, "/"), strings.HasPrefix(to, "."):
		folder := path.Join("/", to)
		if !strings.HasSuffix(find, "/") {
			s.aliases = append(s.aliases, alias{find, []string{folder}})
		}
		s.aliases = append(s.aliases, alias{strings.TrimSuffix(find, "/") + "/*", []string{path.Join(folder, "*")}})
	default:
		s.packages[find] = to
	}
}

// packageAlias returns the specifier that replaces another one by an alias of a package.
func (s *settings) packageAlias(spec string) string {
	for find, to := range s.packages {
		if rest, ok := strings.CutPrefix(spec, find); ok && (rest == "" || rest[0] == '/') {
			return to + rest
		}
	}
	return spec
}

var (
	definedName  = regexp.MustCompile(`^[A-Za-z_$][\w$]*(\.[A-Za-z_$][\w$]*)*$`)
	definedValue = regexp.MustCompile(`^(?:[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*)$`)
)

func (s *settings) readDefine(value any, warn warnFunc) {
	all, ok := value.(*object)
	if !ok {
		warn("define", "define is not understood, so the build ignores it. Write it as an object of constants.")
		return
	}
	for _, name := range all.keys {
		code, isText := all.fields[name].(string)
		if !isText {
			if encoded, ok := encode(all.fields[name]); ok {
				code, isText = encoded, true
			}
		}
		if !isText || !definedName.MatchString(name) || !definedValue.MatchString(code) && !isJSON(code) {
			warn(name, "The value of %s in define is not understood, so the build ignores it. Write a constant, or "+
				"JSON.stringify with a constant.", name)
			continue
		}
		s.define[name] = code
	}
}

// sortedAliases returns aliases in the order in which they are tried: the longest text before * first.
func sortedAliases(all []alias) []alias {
	slices.SortStableFunc(all, func(a, b alias) int { return len(prefix(b.pattern)) - len(prefix(a.pattern)) })
	return all
}
