package build

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// settings are the values of vite.config that a build honors.
type settings struct {
	root, publicDir string              // folders of the project, such as "/client"; "" if they are not set
	paths           map[string][]string // aliases of folders: absolute targets by pattern
	packages        map[string]string   // aliases of packages
	define          map[string]string   // JavaScript by expression
	warnings        []string            // about what is not understood, with the line
}

// settingsFile is a file of settings.
type settingsFile struct {
	*settings

	name string
	text []byte
}

// openSettings returns the first of several files that the project has.
func (p *project) openSettings(names ...string) (settingsFile, bool) {
	for _, name := range names {
		if text, err := p.tree.Read(name); err == nil {
			return settingsFile{&p.settings, name, trimBOM(text)}, true
		}
	}
	return settingsFile{}, false
}

// warn adds a warning with the line of a key in the file.
func (f settingsFile) warn(key, format string, args ...any) {
	line := 1
	at := regexp.MustCompile(`["']?` + regexp.QuoteMeta(key) + `["']?\s*[:,(}]`).FindIndex(f.text)
	if key != "" && at != nil {
		line += strings.Count(string(f.text[:at[0]]), "\n")
	}
	f.warnings = append(f.warnings, fmt.Sprintf("%s:%d: ", f.name, line)+fmt.Sprintf(format, args...))
}

// ignore adds a warning that a value is not understood.
func (f settingsFile) ignore(key, what, advice string) {
	f.warn(key, "%s", strings.TrimSpace(what+" is not understood, so the build ignores it. "+advice))
}

// ignored are the options of Vite that change nothing about the output of a build here, or whose plugins are known.
var ignored = wordSet(`plugins server preview build optimizeDeps css test esbuild worker ssr mode appType clearScreen
	logLevel cacheDir json oxc devtools legacy future environments customLogger`)

// readVite reads vite.config.
func (p *project) readVite() {
	f, ok := p.openSettings("/vite.config.js", "/vite.config.mjs", "/vite.config.ts", "/vite.config.cjs",
		"/vite.config.mts", "/vite.config.cts")
	if !ok {
		return
	}
	config, ok := evaluate(f.name, f.text, p.env).(map[string]any)
	if !ok {
		f.warn("", "The settings are not understood, so the build ignores them. Write them as an object of constants.")
		return
	}
	for _, key := range slices.Sorted(maps.Keys(config)) {
		value := config[key]
		text, isText := value.(string)
		switch {
		case ignored[key]:
		case key == "base" && isText:
			if !slices.Contains([]string{"/", "./", ""}, text) {
				f.warn(key, "base is %s, but a site is served at /, so it is built for /.", quote(text))
			}
		case key == "root" && isText:
			f.root = strings.TrimSuffix(path.Join("/", text), "/")
		case key == "publicDir" && isText:
			f.publicDir = text
		case key == "resolve":
			f.readAliases(value)
		case key == "define":
			f.readDefine(value)
		default:
			f.ignore(key, "The option "+key, "")
		}
	}
}

func (f settingsFile) readAliases(value any) {
	resolve, ok := value.(map[string]any)
	if !ok {
		f.ignore("resolve", "resolve", "")
		return
	}
	switch all := resolve["alias"].(type) {
	case nil:
	case map[string]any:
		for _, find := range slices.Sorted(maps.Keys(all)) {
			f.addAlias(find, all[find])
		}
	case []any:
		for _, item := range all {
			entry, _ := item.(map[string]any)
			if find, ok := entry["find"].(string); ok {
				f.addAlias(find, entry["replacement"])
			} else {
				f.ignore("find", "An alias", "Write its name as a text.")
			}
		}
	default:
		f.ignore("alias", "resolve.alias", "Write it as an object of constants.")
	}
}

// packageName matches a package, or a module in a package.
var packageName = regexp.MustCompile(`^(@[\w~-][\w.~-]*/)?[\w~-][\w.~-]*(/[\w~-][\w.~-]*)*$`)

// addAlias adds an alias of a folder or a package: of the text itself, and of what follows a slash after it.
func (f settingsFile) addAlias(find string, replacement any) {
	to, _ := replacement.(string)
	name, isFolder := strings.CutSuffix(find, "/")
	switch {
	case name != "" && !strings.Contains(find, "*") && (strings.HasPrefix(to, ".") || strings.HasPrefix(to, "/")):
		folder := path.Join("/", to)
		f.paths[name+"/*"] = []string{path.Join(folder, "*")}
		if !isFolder {
			f.paths[name] = []string{folder}
		}
	case packageName.MatchString(find) && packageName.MatchString(to):
		f.packages[find] = to
	default:
		f.ignore(find, "The alias "+quote(find), `Write its folder as a constant, such as "/src".`)
	}
}

// dotted matches a name such as process.env.
var dotted = regexp.MustCompile(`^[A-Za-z_$][\w$]*(\.[A-Za-z_$][\w$]*)*$`)

func (f settingsFile) readDefine(value any) {
	all, ok := value.(map[string]any)
	if !ok {
		f.ignore("define", "define", "Write it as an object of constants.")
		return
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		code, isCode := all[name].(string)
		if encoded, err := json.Marshal(all[name]); err == nil && !isCode {
			code = string(encoded)
		}
		if !dotted.MatchString(name) || !dotted.MatchString(code) && !json.Valid([]byte(code)) {
			f.ignore(name, "The value of "+name+" in define", "Write a constant, or JSON.stringify with a constant.")
			continue
		}
		f.define[name] = code
	}
}
