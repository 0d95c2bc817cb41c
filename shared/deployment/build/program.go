package build

import (
	"cmp"
	"errors"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"devplatform/shared/deployment/failure"
	"devplatform/shared/deployment/tree"
)

// runProgram runs in the process of the build. It makes an output from the project in the working folder.
func runProgram(j job) (result, [][]byte, error) {
	dir, err := os.Getwd()
	if err != nil {
		return result{}, nil, err
	}
	return runInFolder(dir, j)
}

// runInFolder makes an output from the project in a folder. It returns the result, and the contents of the generated
// files in the order of their paths. An error is a bug: the errors of a project are in the result.
func runInFolder(dir string, j job) (r result, data [][]byte, err error) {
	t, err := tree.Open(dir, j.Tree)
	if err != nil {
		return result{}, nil, err
	}
	defer t.Close()
	p := &project{
		tree: t, dir: t.Dir(), files: j.Files, hiddenFiles: j.Settings, names: slices.Sorted(maps.Keys(j.Files)),
		output: map[string]outputFile{}, rules: map[string]string{},
	}
	err = p.makeOutput(j)
	if err == nil {
		for _, name := range slices.Sorted(maps.Keys(p.output)) {
			f := p.output[name]
			f.Path = name
			if f.Source != "" {
				f.Size = j.Files[f.Source]
			} else {
				f.Size = len(f.data)
				data = append(data, f.data)
			}
			r.Files = append(r.Files, f)
		}
		r.Rules, r.Notes, r.Warnings = p.rules, p.notes, p.warnings
		err = checkLimits(r.Files)
	}
	if f, ok := errors.AsType[*failure.Error](err); ok {
		return result{Error: f}, nil, nil
	}
	return r, data, err
}

// makeOutput makes the output of a project. Errors: *failure.Error; any other error is a bug.
func (p *project) makeOutput(j job) error {
	if err := p.readSettings(j); err != nil {
		return err
	}
	pages, err := p.findPages()
	if err != nil {
		return err
	}
	bundled, err := bundle(p, pages)
	if err != nil {
		return err
	}
	p.copyFiles(pages)
	p.addBundle(pages, bundled)
	return p.addPages(pages, bundled)
}

// project contains the files of a project, its packages in node_modules, and the settings of its build. Paths are
// absolute in the project, such as "/src/main.tsx" and "/node_modules/react/index.js".
type project struct {
	tree  *tree.Tree
	dir   string         // in the file system
	files map[string]int // sizes of the project's files
	// hiddenFiles are files of settings that are not in the tree.
	hiddenFiles map[string][]byte
	names       []string // of the project's files, sorted

	// web is the folder to which the paths in the site are relative, such as "/client". It is "" if this is the root of
	// the project. public is the folder whose files are published as they are, at the root of the site.
	web, public string

	output          map[string]outputFile // the output by path
	rules           map[string]string     // files of the project with rules, by path in the site
	notes, warnings lines                 // guarded by buildState.mu while the bundler runs

	manifest       packageJSON
	tsconfig       string              // for esbuild
	pathAliases    map[string][]string // aliases of folders: absolute targets in the project by pattern
	packageAliases map[string]string   // aliases of packages
	svelteOptions  map[string]any      // options of the compiler of Svelte
	// postCSSTailwindConfig is the configuration of Tailwind CSS 3 that PostCSS names, or "".
	postCSSTailwindConfig string
	sassSettings          sassSettings
	engines               []api.Engine      // the oldest browsers in which the site works
	env                   map[string]any    // the values of import.meta.env
	constants             map[string]string // JavaScript values by expression
	isApp                 bool              // whether the project is built, so that scripts outside of /public are source
}

// readSettings reads the settings of a project. Errors: *failure.Error.
func (p *project) readSettings(j job) (err error) {
	manifest, _ := p.tree.Read(manifestPath) // nil if there is none
	if p.manifest, err = parsePackageJSON(manifest); err != nil {
		return err
	}
	env, expressions, err := constants(j, "")
	if err != nil {
		return err
	}
	p.env = env // vite.config can load them
	p.constants, p.pathAliases, p.packageAliases = map[string]string{}, map[string][]string{}, map[string]string{}
	p.readVite()
	if p.web != "" {
		if p.env, expressions, err = constants(j, p.web); err != nil {
			return err
		}
	}
	maps.Copy(expressions, p.constants) // define replaces variables
	p.constants = expressions
	p.public = path.Join("/", p.web, cmp.Or(p.public, "public"))
	p.readPostCSS()
	p.readSvelte()
	p.readBrowsers()
	p.isApp = p.manifest.isApp(p.files)
	return p.readTSConfig()
}

// has reports whether a file exists.
func (p *project) has(name string) bool {
	_, ok := p.files[name]
	return ok || tree.IsInPackage(name) && p.tree.Has(name)
}

// path returns the path in the project of a path in the file system. ok is false if it is outside.
func (p *project) path(file string) (name string, ok bool) {
	rel, ok := strings.CutPrefix(file, p.dir+string(filepath.Separator))
	if !ok || !filepath.IsLocal(rel) {
		return "", false
	}
	return "/" + filepath.ToSlash(rel), true
}

// file returns the path in the file system of a path in the project.
func (p *project) file(name string) string { return p.dir + filepath.FromSlash(name) }

// wordSet returns the words of a text.
func wordSet(text string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(text) {
		set[word] = true
	}
	return set
}
