package build

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"devplatform/shared/deployment/failure"
)

// runProgram is the program of the process: it makes an output from the project in the working folder.
func runProgram(j job) (result, [][]byte, error) {
	dir, err := os.Getwd()
	if err != nil {
		return result{}, nil, err //nolint:wrapcheck // names the call
	}
	return runIn(dir, j)
}

// runIn makes an output from the project in a folder. It returns the contents of the files that are not the project's
// own beside the result. An error is a bug: the errors of a project are in the result.
func runIn(dir string, j job) (r result, data [][]byte, err error) {
	t, err := openTree(dir, j.Files)
	if err != nil {
		return result{}, nil, err
	}
	defer t.close()
	out, err := makeOutput(t, j)
	if err == nil {
		for _, name := range slices.Sorted(maps.Keys(out.files)) {
			f := out.files[name]
			if f.Path = name; f.Source != "" {
				f.Size = j.Files[f.Source]
			} else {
				f.Size = len(f.data)
				data = append(data, f.data)
			}
			r.Files = append(r.Files, f)
		}
		r.Notes, r.Warnings = out.notes, out.warnings
		err = checkLimits(r.Files)
	}
	var f *failure.Error
	if errors.As(err, &f) {
		return result{Error: f}, nil, nil
	}
	return r, data, err
}

// makeOutput makes the output of a project. Errors: *failure.Error; any other error is a bug.
func makeOutput(t *tree, j job) (*output, error) {
	p, err := readProject(t, j)
	if err != nil {
		return nil, err
	}
	pages, err := p.findPages()
	if err != nil {
		return nil, err
	}
	bundled, err := bundle(p, pages)
	if err != nil {
		return nil, err
	}
	out := p.copyFiles(pages)
	out.addBundle(p, pages, bundled)
	return out, out.addPages(pages, bundled)
}

// project is what the files of a project say about its build.
type project struct {
	*tree

	manifest  packageJSON
	settings  settings
	tsconfig  string            // for esbuild
	aliases   []alias           // in the order in which they are tried
	env       map[string]any    // the values of import.meta.env
	constants map[string]string // JavaScript values by expression
	app       bool              // whether the project is built, so that scripts outside of /public are source
}

// readProject reads the settings of a project. Errors: *failure.Error.
func readProject(t *tree, j job) (*project, error) {
	p := &project{tree: t}
	var err error
	if p.manifest, err = parsePackageJSON(j.Manifest); err != nil {
		return nil, err
	}
	if p.env, p.constants, err = constants(j); err != nil {
		return nil, err
	}
	p.settings = t.readSettings(p.env)
	maps.Copy(p.constants, p.settings.define)
	p.web = p.settings.root
	p.public = path.Join("/", p.web, cmp.Or(p.settings.publicDir, publicDir))
	config, err := p.readTSConfig()
	if err != nil {
		return nil, err
	}
	p.tsconfig = quoteJSON(map[string]any{"compilerOptions": config.options})
	// Many projects use the alias @ without naming it in a file that is not a program.
	p.aliases = slices.Concat(p.settings.aliases, config.paths, []alias{{"@/*", []string{p.web + "/src/*"}}})
	if config.baseURL != "" {
		p.aliases = append(p.aliases, alias{"*", []string{path.Join(config.baseURL, "*")}})
	}
	sortAliases(p.aliases)
	p.app = p.manifest.isApp(t.files)
	return p, nil
}

// tree is the folder with the files of a project and, in node_modules, its packages. Their paths are absolute in the
// project, such as "/src/main.tsx" and "/node_modules/react/index.js".
type tree struct {
	dir   string // in the file system
	root  *os.Root
	files map[string]int // sizes of the project's files
	names []string       // of the project's files, sorted
	slots chan struct{}  // limits the files that are open

	// web is the folder whose files have their own paths in the site, such as "/client", or "" for all. public is the
	// folder whose files are published as they are, at the root of the site.
	web, public string
}

func openTree(dir string, files map[string]int) (*tree, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open the folder of the project: %w", err)
	}
	return &tree{
		dir: dir, root: root, files: files, names: slices.Sorted(maps.Keys(files)), slots: make(chan struct{}, 32),
		public: publicDir,
	}, nil
}

func (t *tree) close() { _ = t.root.Close() }

// read returns a file. It follows no link out of the folder.
func (t *tree) read(name string) ([]byte, error) {
	t.slots <- struct{}{}
	defer func() { <-t.slots }()
	return t.root.ReadFile(filepath.FromSlash(strings.TrimPrefix(name, "/"))) //nolint:wrapcheck // callers say which file
}

// has reports whether a file exists.
func (t *tree) has(name string) bool {
	if !isInPackage(name) {
		_, ok := t.files[name]
		return ok
	}
	info, err := t.root.Stat(filepath.FromSlash(name[1:]))
	return err == nil && info.Mode().IsRegular()
}

// hasFolder reports whether a folder exists in node_modules.
func (t *tree) hasFolder(name string) bool {
	info, err := t.root.Stat(filepath.FromSlash(name[1:]))
	return err == nil && info.IsDir()
}

// path returns the path in the project of a path in the file system. ok is false if it is outside.
func (t *tree) path(file string) (name string, ok bool) {
	rel, ok := strings.CutPrefix(file, t.dir+string(filepath.Separator))
	if !ok || !filepath.IsLocal(rel) {
		return "", false
	}
	return "/" + filepath.ToSlash(rel), true
}

// file returns the path in the file system of a path in the project.
func (t *tree) file(name string) string { return t.dir + filepath.FromSlash(name) }

// wordSet returns the words of a text.
func wordSet(text string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(text) {
		set[word] = true
	}
	return set
}

const publicDir = "/public"

const packageFolder = "/node_modules/"

func isInPackage(file string) bool { return strings.HasPrefix(file, packageFolder) }

// packageOf returns the folder of the package to which a file belongs, such as "/node_modules/a/node_modules/@b/c", and
// the name of the package.
func packageOf(file string) (folder, name string) {
	start := strings.LastIndex(file, packageFolder) + len(packageFolder)
	parts := strings.SplitN(file[start:], "/", 3)
	n := 1
	if strings.HasPrefix(parts[0], "@") {
		n = min(2, len(parts))
	}
	name = strings.Join(parts[:n], "/")
	return file[:start] + name, name
}
