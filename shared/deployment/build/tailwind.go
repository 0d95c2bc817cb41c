package build

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"deps.dev/util/semver"
	"github.com/evanw/esbuild/pkg/api"

	"devplatform/shared/deployment/constant"
	"devplatform/shared/deployment/engine"
	"devplatform/shared/deployment/failure"
	"devplatform/shared/deployment/tailwind"
	"devplatform/shared/deployment/tree"
)

// Style sheets that use Tailwind CSS are compiled by its own compiler, which runs in package engine with the project's
// configuration. It inlines imports, so a style sheet that imports such a style sheet is compiled, too.

const (
	// maxEngineTime limits the processor time of the compilers and the configurations of a build together.
	maxEngineTime = 10 * time.Second
	// maxContent is the maximum number of bytes of all files in which the compiler looks for names of classes.
	maxContent = 32 << 20
)

// The versions of the compilers. A test compares them with the packages in infra/compilers.
var tailwindVersions = map[string]string{"tailwind3": "3.4.19", "tailwind4": "4.3.5"}

// tailwindCSS is the compiler of the style sheets of a build.
type tailwindCSS struct {
	mu      sync.Mutex // one style sheet at a time
	name    string     // of the compiler
	engine  *engine.Engine
	config  string            // module of the configuration of version 3, or ""
	modules map[string]string // results of loadModule, by folder and module
	// sheet is the style sheet that is compiled, for b. loadErr is the error of the first file that could not be loaded,
	// and loadErrID is the name of this file in the style sheet.
	b         *bundler
	sheet     script
	loadErr   error
	loadErrID string
}

// compilesStyle reports whether an inline style sheet of a page is compiled: it uses Tailwind CSS, and so does the
// project. In other projects, a script of the page can compile it.
func (p *project) compilesStyle(e entry) bool {
	css := cssComments.ReplaceAllString(e.code, "")
	kind := attribute(e.tag, "type")
	return (kind == "" || strings.EqualFold(kind, "text/css")) && usesTailwind.MatchString(css) &&
		(loadsTailwind.MatchString(css) || p.manifest.has("tailwindcss") || p.manifest.has("@tailwindcss/vite") ||
			p.manifest.has("@tailwindcss/postcss") || p.tailwindConfig() != "")
}

// tailwindConfig returns the configuration of version 3, or "".
func (p *project) tailwindConfig() string {
	names := []string{p.postCSSTailwindConfig}
	for _, ext := range []string{".js", ".cjs", ".mjs", ".ts", ".cts", ".mts"} {
		names = append(names, p.web+"/tailwind.config"+ext, "/tailwind.config"+ext)
	}
	i := slices.IndexFunc(names, p.has)
	if i < 0 {
		return ""
	}
	return names[i]
}

// withoutTailwind returns a style sheet of the project without code that only Tailwind CSS understands. Errors:
// *failure.Error.
func (b *bundler) withoutTailwind(s script) (string, error) {
	s.code = withRemoteImportsFirst(s.code)
	if !b.needsTailwind(s) {
		return string(s.code), nil
	}
	t := b.tailwind
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b, t.sheet, t.loadErr, t.loadErrID = b, s, nil, ""
	css, err := t.compile()
	if err != nil {
		return "", t.failure(err)
	}
	return string(withRemoteImportsFirst([]byte(css))), nil
}

// compile returns the CSS of the style sheet. Errors: the errors of package engine; *failure.Error.
func (t *tailwindCSS) compile() (css string, err error) {
	if t.engine == nil {
		if err := t.start(); err != nil {
			return "", err
		}
	}
	in := map[string]any{
		"css": string(t.sheet.code), "file": t.sheet.file, "base": path.Dir(t.sheet.file), "config": t.config,
		"nested":   true, // version 3 does not understand nested rules, so they are resolved first
		"isModule": styleLoader(t.sheet.file) == api.LoaderLocalCSS,
	}
	var scan struct {
		Sources []tailwind.Source `json:"sources"`
		Root    any               `json:"root"` // null, "none" or a source
		Globs   []string          `json:"globs"`
	}
	if err := t.engine.Call("start", in, &scan); err != nil {
		return "", err
	}
	var names any
	if t.name == "tailwind3" {
		names, err = t.contentFiles(scan.Globs)
	} else {
		names, err = t.candidates(scan.Root, scan.Sources)
	}
	if err != nil {
		return "", err
	}
	err = t.engine.Call("finish", names, &css)
	return css, err
}

// start starts the engine with the compiler of the version that the project asks for, and loads the configuration of
// version 3.
func (t *tailwindCSS) start() (err error) {
	if t.name, err = t.compilerName(); err != nil {
		return err
	}
	if t.engine, err = engine.New(maxEngineTime); err != nil {
		return err
	}
	t.modules = map[string]string{}
	if err := t.engine.LoadCompiler(t.name); err != nil {
		return err
	}
	err = errors.Join(
		t.engine.Register("loadStylesheet", t.hostFunction(t.loadSheet)),
		t.engine.Register("loadModule", t.hostFunction(t.loadModule)),
	)
	if err != nil || t.name != "tailwind3" {
		return err
	}
	if name := t.b.tailwindConfig(); name != "" {
		t.config, err = t.loadModule(name, "/")
	}
	return err
}

func (t *tailwindCSS) close() {
	if t.engine != nil {
		t.engine.Close()
	}
}

// hostFunction returns a function for the compiler. It keeps the error, which is an exception in the compiler.
func (t *tailwindCSS) hostFunction(f func(id, base string) (string, error)) func([]string) (string, error) {
	return func(arguments []string) (string, error) {
		if len(arguments) != 2 {
			return "", errors.New("two arguments are expected")
		}
		answer, err := f(arguments[0], arguments[1])
		if err != nil && t.loadErr == nil {
			t.loadErr, t.loadErrID = err, arguments[0]
		}
		return answer, err
	}
}

var (
	versionNumber = regexp.MustCompile(`\d+`)
	// layersOf3 matches layers that version 4 does not understand.
	layersOf3 = regexp.MustCompile(`@tailwind\s+(?:base|components)\b`)
)

// compilerName returns the name of the compiler for the version that the project asks for.
func (t *tailwindCSS) compilerName() (string, error) {
	spec, ok := cmp.Or(t.b.manifest.Dependencies["tailwindcss"], t.b.manifest.DevDependencies["tailwindcss"]).(string)
	if !ok {
		if layersOf3.Match(t.sheet.code) && !t.b.manifest.has("@tailwindcss/vite") {
			return "tailwind3", nil
		}
		return "tailwind4", nil
	}
	if _, version, ok := strings.Cut(spec, "@"); ok { // an alias, such as "npm:tailwindcss@3"
		spec = version
	}
	if rule, err := semver.NPM.ParseConstraint(spec); err == nil {
		for _, name := range []string{"tailwind4", "tailwind3"} {
			if rule.Match(tailwindVersions[name]) {
				return name, nil
			}
		}
	}
	name := "tailwind" + versionNumber.FindString(spec)
	switch compilerVersion := tailwindVersions[name]; {
	case compilerVersion != "":
		t.b.note(fmt.Sprintf("Tailwind CSS %s compiles the style sheets, although /package.json asks for %s.",
			compilerVersion, quote(spec)))
		return name, nil
	case name == "tailwind": // a tag, such as "latest"
		return "tailwind4", nil
	}
	return "", failIn(manifestPath, failure.FrameworkUnsupported, "Tailwind CSS %s cannot be used. Change the version of "+
		"tailwindcss in /package.json to ^3.4.0 or ^4.0.0.", quote(spec))
}

// fileNames returns the files of the project and its packages.
func (t *tailwindCSS) fileNames() []string { return slices.Sorted(maps.Keys(t.b.tree.Files())) }

// candidates returns the words that may be names of classes, for version 4.
func (t *tailwindCSS) candidates(root any, sources []tailwind.Source) ([]string, error) {
	switch r := root.(type) {
	case nil:
		sources = slices.Insert(sources, 0, tailwind.Source{Base: t.b.web + "/", Pattern: "**/*"})
	case map[string]any:
		base, _ := r["base"].(string)
		pattern, _ := r["pattern"].(string)
		sources = slices.Insert(sources, 0, tailwind.Source{Base: base, Pattern: pattern})
	}
	set := map[string]bool{}
	files := tailwind.Files(t.fileNames(), sources, t.b.hiddenFiles["/.gitignore"])
	err := t.eachFile(files, func(name string, data []byte) {
		tailwind.Candidates(set, tailwind.Extension(name), data)
	})
	return append([]string{}, slices.Sorted(maps.Keys(set))...), err // not null in JSON
}

// content is a file in which version 3 looks for names of classes.
type content struct {
	Content   string `json:"content"`
	Extension string `json:"extension"`
}

// contentFiles returns the files that the configuration names, for version 3.
func (t *tailwindCSS) contentFiles(globs []string) ([]content, error) {
	all := []content{} // not null in JSON
	err := t.eachFile(tailwind.Glob(t.fileNames(), globs, t.b.web+"/"), func(name string, data []byte) {
		all = append(all, content{string(data), tailwind.Extension(name)})
	})
	if err == nil && len(all) == 0 {
		t.b.warn("No file matches content of the configuration of Tailwind CSS, so the style sheets have no classes of the " +
			"project. Add the patterns of the files that use classes.")
	}
	return all, err
}

// eachFile calls a function with each file that may be read. Errors: *failure.Error if the files are larger than
// maxContent; the errors of the tree.
func (t *tailwindCSS) eachFile(names []string, f func(name string, data []byte)) error {
	left := maxContent
	for _, name := range names {
		if !tree.IsInPackage(name) && keyFiles.MatchString(name) {
			continue
		}
		data, err := t.b.tree.Read(name)
		if err != nil {
			return err
		}
		if left -= len(data); left < 0 {
			return failf(failure.BuildFailed, "The files in which Tailwind CSS looks for classes have more than %d MiB. Name "+
				"fewer files in content of the configuration, or in @source.", maxContent>>20)
		}
		f(name, data)
	}
	return nil
}

// importer returns the file whose imports are relative to a folder. If it is not known, its name is made up.
func (t *tailwindCSS) importer(folder string) string {
	if folder == path.Dir(t.sheet.file) {
		return t.sheet.file
	}
	return path.Join(folder, "style.css")
}

// loadSheet returns an imported style sheet, with URLs relative to the style sheet that is compiled.
func (t *tailwindCSS) loadSheet(id, base string) (string, error) {
	file, err := t.b.findSheet(id, t.importer(base))
	if err != nil {
		return "", err
	}
	data, err := t.b.load(file)
	if err != nil {
		return "", err
	}
	sheet, err := t.b.css(file, data)
	if err != nil {
		return "", err
	}
	text, err := moveURLs(string(withRemoteImportsFirst(sheet.code)), path.Dir(file), path.Dir(t.sheet.file))
	if err != nil {
		return "", err
	}
	return constant.Quote(map[string]string{"path": file, "base": path.Dir(file), "content": text}), nil
}
