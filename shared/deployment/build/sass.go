package build

import (
	"path"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"devplatform/shared/deployment/failure"
	"devplatform/shared/deployment/sass"
	"devplatform/shared/deployment/tree"
)

// isStyleSheet reports whether a file is a style sheet that can be bundled.
func isStyleSheet(file string) bool {
	return strings.EqualFold(path.Ext(file), ".css") || sass.IsSass(file)
}

// styleLoader returns the loader of a style sheet: the names of a CSS module are local.
func styleLoader(file string) api.Loader {
	if name := strings.ToLower(file); strings.HasSuffix(strings.TrimSuffix(name, path.Ext(name)), ".module") {
		return api.LoaderLocalCSS
	}
	return api.LoaderCSS
}

// css returns the CSS code of a style sheet. It compiles Sass. Errors: *failure.Error.
func (b *bundler) css(file string, data []byte) (script, error) {
	s := script{file: file, line: 1, code: trimBOM(data)}
	if !sass.IsSass(file) {
		return s, nil
	}
	css, err := sassProject{b}.Sass(sass.SheetOf(file, s.code))
	return script{file: file, line: 1, code: []byte(css), source: s.code}, err
}

// sassSettings are the options of Sass in vite.config.
type sassSettings struct {
	before  map[string]string // code before each style sheet of the project, by extension
	folders []string          // in which references look for style sheets
}

// sassProject implements sass.Project: it limits the files that the Sass compiler can read.
type sassProject struct{ *bundler }

// Sass compiles a style sheet. Errors: *failure.Error.
func (p sassProject) Sass(s sass.Sheet) (string, error) {
	if !tree.IsInPackage(s.File) {
		syntax := "scss"
		if s.IsIndented {
			syntax = "sass"
		}
		s.Before = p.sassSettings.before[syntax]
	}
	return p.sass.Compile(s)
}

// Has implements sass.Project.
func (p sassProject) Has(file string) bool { return p.has(file) }

// Read implements sass.Project.
func (p sassProject) Read(file, sheet string) ([]byte, error) {
	data, err := p.load(file)
	if err != nil {
		return nil, err
	}
	text, err := moveURLs(string(trimBOM(data)), path.Dir(file), path.Dir(sheet))
	return []byte(text), err
}

// Candidates implements sass.Project.
func (p sassProject) Candidates(importer, spec string) (paths []string, err error) {
	inPackage := tree.IsInPackage(importer)
	name, isPackage := strings.CutPrefix(spec, "pkg:")
	name = strings.TrimPrefix(name, "~") // as in webpack
	switch _, ok := join(path.Dir(importer), spec); {
	case isRelative(spec) && !ok:
		return nil, errLeavesProject(spec)
	case isRelative(spec): // the file does not exist
		return nil, nil
	case strings.HasPrefix(spec, "/") && inPackage:
		return nil, errLeavesPackage(importer)
	case strings.HasPrefix(spec, "/"):
		return []string{p.web + spec}, nil
	case scheme.MatchString(name):
		return nil, failf(failure.BuildFailed, "%s cannot be loaded. Use a path in the project or a package.", quote(spec))
	}
	if file, ok := p.aliasedFile(name); ok && !isPackage && !inPackage {
		paths = append(paths, file)
	}
	if _, alias := tree.PackageOf(tree.PackageFolder + name); p.packageAliases[alias] != "" && !inPackage {
		name = p.packageAliases[alias] + strings.TrimPrefix(name, alias)
	}
	paths = append(paths, p.packageCandidates(importer, name)...)
	if !inPackage && !isPackage {
		for _, folder := range p.sassSettings.folders {
			paths = append(paths, path.Join(folder, name))
		}
	}
	return paths, nil
}

// packageCandidates returns the paths in a package that a reference in a file can mean.
func (p sassProject) packageCandidates(importer, spec string) (paths []string) {
	folder, ok := p.packageFolder(importer, spec)
	if !ok {
		return nil
	}
	_, name := tree.PackageOf(folder)
	part := strings.TrimPrefix(spec, name)
	if file, ok := p.packageSheet(folder, part, "sass", "style"); ok {
		paths = append(paths, file)
	}
	if file, ok := join(folder, "."+part); ok && isWithin(folder, file) {
		paths = append(paths, file)
	}
	return paths
}

// ErrMissing implements sass.Project.
func (p sassProject) ErrMissing(importer, spec string) *failure.Error {
	name := strings.TrimPrefix(strings.TrimPrefix(spec, "pkg:"), "~")
	_, dependency := tree.PackageOf(tree.PackageFolder + name)
	if isRelative(spec) || name != spec || strings.HasPrefix(spec, "/") ||
		strings.HasPrefix(spec, "@") || p.hasPackage(importer, name) || p.manifest.has(dependency) {
		return p.errMissing(importer, name)
	}
	return failf(failure.BuildFailed, "The style sheet %s does not exist, beside its importer or as a package. Add the "+
		"file, or add the package to dependencies in /package.json.", quote(spec))
}
