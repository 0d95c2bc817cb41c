package build

import (
	"bytes"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"devplatform/shared/deployment/constant"
	"devplatform/shared/deployment/tree"
)

// settingsFile is a file of settings of a project.
type settingsFile struct {
	*project

	name string
	text []byte
}

// openSettings returns the first of several files that the project has.
func (p *project) openSettings(names ...string) (settingsFile, bool) {
	for _, name := range names {
		for _, file := range []string{name, p.web + name} {
			text, ok := p.hiddenFiles[file]
			if data, err := p.tree.Read(file); err == nil {
				text, ok = data, true
			}
			if ok {
				return settingsFile{p, file, trimBOM(text)}, true
			}
		}
	}
	return settingsFile{}, false
}

// value returns the value of the file: the default export of a program, or a JSON value. env has the variables that the
// program can load.
func (f settingsFile) value(env map[string]any) any {
	code := f.text
	if ext := path.Ext(f.name); ext == "" || ext == ".json" || ext == ".postcssrc" {
		code = slices.Concat([]byte("export default "), code)
	}
	return constant.Evaluate(f.name, code, env)
}

// object returns the value of the file, or nil with a warning if it is not an object.
func (f settingsFile) object(env map[string]any) map[string]any {
	all, ok := f.value(env).(map[string]any)
	if !ok {
		f.warn("", "The settings are not understood, so the build ignores them. Write them as an object of constants.")
	}
	return all
}

// warn adds a warning with the line of a key in the file. After maxWarnings it does nothing: finding the line of each
// of many keys would take too long.
func (f settingsFile) warn(key, format string, args ...any) {
	if len(f.warnings) >= maxWarnings {
		return
	}
	line := 1
	if at := f.find(key); at > 0 {
		line += bytes.Count(f.text[:at], []byte("\n"))
	}
	f.warnings.add("%s:%d: %s", f.name, line, fmt.Sprintf(format, args...))
}

// afterKey matches what follows a key or a value.
var afterKey = regexp.MustCompile(`(?m)\A["']?\s*([:;,(){}\]]|$)`)

// find returns the offset of a key in the file, or -1. A regular expression that contains the key would need time
// proportional to the product of the lengths of the key and the file.
func (f settingsFile) find(key string) int {
	const maxAfter = 100 // bytes after the key that are examined
	for at := 0; key != ""; at += len(key) {
		next := bytes.Index(f.text[at:], []byte(key))
		if next < 0 {
			break
		}
		at += next
		after := f.text[at+len(key):]
		if afterKey.Match(after[:min(len(after), maxAfter)]) {
			return at
		}
	}
	return -1
}

// ignore adds a warning that the build ignores a value that it does not understand.
func (f settingsFile) ignore(key, what, advice string) {
	f.warn(key, "%s", strings.TrimSpace(what+" is not understood, so the build ignores it. "+advice))
}

// ignoredOptions are the options of Vite that the build ignores without a warning.
var ignoredOptions = wordSet(`plugins server preview build optimizeDeps test esbuild worker ssr mode appType clearScreen
	logLevel cacheDir json oxc devtools legacy future environments customLogger`)

// readVite reads vite.config.
func (p *project) readVite() {
	f, ok := p.openSettings("/vite.config.js", "/vite.config.mjs", "/vite.config.ts", "/vite.config.cjs",
		"/vite.config.mts", "/vite.config.cts")
	if !ok {
		return
	}
	config := f.object(p.env)
	for _, key := range slices.Sorted(maps.Keys(config)) {
		value := config[key]
		text, isText := value.(string)
		switch {
		case ignoredOptions[key]:
		case key == "base" && isText:
			if !slices.Contains([]string{"/", "./", ""}, text) {
				f.warn(key, "base is %s, but a site is served at /, so it is built for /.", quote(text))
			}
		case key == "root" && isText:
			p.web = strings.TrimSuffix(path.Join("/", text), "/")
		case key == "publicDir" && isText:
			p.public = text
		case key == "resolve":
			f.readAliases(value)
		case key == "css":
			f.readSass(value)
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

// addAlias adds an alias of a folder or a package: of the text itself, and of the text followed by a slash and a path.
func (f settingsFile) addAlias(find string, replacement any) {
	to, _ := replacement.(string)
	name, isFolder := strings.CutSuffix(find, "/")
	switch {
	case name != "" && !strings.Contains(find, "*") && (strings.HasPrefix(to, ".") || strings.HasPrefix(to, "/")):
		folder := path.Join("/", to)
		f.pathAliases[name+"/*"] = []string{path.Join(folder, "*")}
		if !isFolder {
			f.pathAliases[name] = []string{folder}
		}
	case packageName.MatchString(find) && packageName.MatchString(to):
		f.packageAliases[find] = to
	default:
		f.ignore(find, "The alias "+quote(find), `Write its folder as a constant, such as "/src".`)
	}
}

// dottedName matches a name such as process.env.
var dottedName = regexp.MustCompile(`^[A-Za-z_$][\w$]*(\.[A-Za-z_$][\w$]*)*$`)

// reservedWords are the words of JavaScript with which such a name cannot begin.
var reservedWords = wordSet(`break case catch class const continue debugger default delete do else enum export extends
	false finally for function if import in instanceof new null return super switch throw true try typeof var void while
	with`)

// isDottedName reports whether the bundler accepts a text as the name of a constant.
func isDottedName(text string) bool {
	first, rest, _ := strings.Cut(text, ".")
	return dottedName.MatchString(text) &&
		(!reservedWords[first] || first == "import" && strings.HasPrefix(rest+".", "meta."))
}

func (f settingsFile) readDefine(value any) {
	all, ok := value.(map[string]any)
	if !ok {
		f.ignore("define", "define", "Write it as an object of constants.")
		return
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		code, isCode := all[name].(string)
		if !isCode {
			code, _ = constant.Encode(all[name])
		}
		if !isDottedName(name) || !isDottedName(code) && !jsontext.Value(code).IsValid(tree.JSON) {
			f.ignore(name, "The value of "+name+" in define", "Write a constant, or JSON.stringify with a constant.")
			continue
		}
		f.constants[name] = code
	}
}

// readSass reads css.preprocessorOptions. The other options of css change nothing here.
func (f settingsFile) readSass(value any) {
	css, _ := value.(map[string]any)
	options, _ := css["preprocessorOptions"].(map[string]any)
	f.sassSettings.before = map[string]string{}
	for _, syntax := range []string{"scss", "sass"} {
		all, _ := options[syntax].(map[string]any)
		before, isText := all["additionalData"].(string)
		if all["additionalData"] != nil && !isText {
			f.ignore("additionalData", "additionalData", "Write it as a constant text.")
		}
		f.sassSettings.before[syntax] = before
		for _, key := range []string{"loadPaths", "includePaths"} {
			for _, folder := range stringsIn(all[key]) {
				f.sassSettings.folders = append(f.sassSettings.folders, path.Join("/", folder))
			}
		}
	}
}

// readSvelte reads svelte.config. Builds need no preprocessor such as vitePreprocess: they remove types themselves.
func (p *project) readSvelte() {
	f, ok := p.openSettings("/svelte.config.js", "/svelte.config.mjs", "/svelte.config.ts", "/svelte.config.cjs")
	if !ok {
		return
	}
	config := f.object(nil)
	if config["preprocess"] != nil && !bytes.Contains(f.text, []byte("Preprocess")) {
		f.warn("preprocess", "The preprocessors are not used, because builds run no plugins.")
	}
	options, ok := config["compilerOptions"].(map[string]any)
	if !ok && config["compilerOptions"] != nil {
		f.ignore("compilerOptions", "compilerOptions", "Write it as an object of constants.")
	}
	p.svelteOptions = map[string]any{}
	for _, key := range slices.Sorted(maps.Keys(options)) {
		if _, ok := constant.Encode(options[key]); ok {
			p.svelteOptions[key] = options[key]
		} else {
			f.ignore(key, "The option "+key, "Write a constant.")
		}
	}
}

// postCSSPlugins are the plugins of PostCSS whose work the build does.
var postCSSPlugins = wordSet(`tailwindcss @tailwindcss/postcss tailwindcss/nesting autoprefixer postcss-import
	postcss-nesting cssnano`)

// readPostCSS reads the plugins of PostCSS.
func (p *project) readPostCSS() {
	f, ok := p.openSettings("/postcss.config.js", "/postcss.config.cjs", "/postcss.config.mjs", "/postcss.config.ts",
		"/postcss.config.json", "/.postcssrc", "/.postcssrc.json", "/.postcssrc.js", "/.postcssrc.cjs", "/.postcssrc.mjs",
		"/.postcssrc.ts", "/.postcssrc.yaml", "/.postcssrc.yml")
	var config any
	if ok {
		config = f.value(nil)
	} else if f, ok = p.openSettings(manifestPath); ok {
		config = p.manifest.PostCSS
	}
	if config == nil {
		return
	}
	all, _ := config.(map[string]any)
	var names []string
	switch plugins := all["plugins"].(type) {
	case map[string]any:
		names = slices.Sorted(maps.Keys(plugins))
		names = slices.DeleteFunc(names, func(name string) bool { return plugins[name] == false })
		options, _ := plugins["tailwindcss"].(map[string]any)
		if file, ok := options["config"].(string); ok {
			p.postCSSTailwindConfig = path.Join("/", file)
		}
	case []any:
		for _, plugin := range plugins {
			if m, ok := plugin.(constant.Module); ok {
				plugin = m.Name
			}
			if name, ok := plugin.(string); ok {
				names = append(names, name)
			} else {
				f.ignore("plugins", "A plugin of PostCSS", "")
			}
		}
	default:
		if plugins != nil || all == nil {
			f.ignore("", "The configuration of PostCSS", "Write it as an object of constants.")
		}
	}
	for _, name := range names {
		if !postCSSPlugins[name] {
			f.warn(name, "The plugin %s of PostCSS is not used, because builds run no plugins.", name)
		}
	}
}
