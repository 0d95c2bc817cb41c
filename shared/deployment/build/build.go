// Package build makes the output of a deployment from the files of a project. It bundles JavaScript, TypeScript and
// CSS, and copies static files. It makes no network calls. It executes no code of the project, except the configuration
// of Tailwind CSS and the compiler in the package svelte (package engine). Package component compiles components.
//
// A build runs in a process of its own, with a tree of the project's files and its packages (package tree). build.go,
// folder.go, root.go, framework.go and imports.go run in the calling process: they decide which packages to install,
// make the tree, start the process (package sandbox), and check its result. The following files run in the process of
// the build:
//
//	program.go      runs the steps of a build
//	settings.go     vite.config and the configuration of PostCSS; browsers.go: Browserslist; tsconfig.go: tsconfig.json;
//	                env.go: variables. Package constant evaluates settings that are programs.
//	entry.go        the pages of a project; page.go: the scripts and style sheets that a page loads
//	bundle.go       runs the bundler, esbuild, which resolves imports itself
//	guard.go        keeps esbuild inside the tree; pattern.go: checks imports with computed paths
//	reference.go    imports that esbuild does not know; builtin.go: modules of Node.js; globals.go: its variables
//	module.go       the modules to which imports refer; compile.go: the table of the compilers of other files
//	sheet.go        the style sheets to which imports refer; tailwind.go: style sheets that use Tailwind CSS;
//	                tailwindload.go: the modules that configurations of Tailwind CSS load
//	sass.go         style sheets in Sass, which package sass compiles
//	component.go    components of Vue and Svelte; barrel.go: packages with thousands of them
//	meta.go         import.meta, as in Vite; metaglob.go: import.meta.glob
//	message.go      translates the bundler's messages
//	publish.go      decides which other files are published
package build

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"devplatform/shared/contenttype"
	"devplatform/shared/deployment/failure"
	"devplatform/shared/deployment/sandbox"
	"devplatform/shared/deployment/tree"
	"devplatform/shared/site/rule"
)

// The limits of an output.
const (
	maxFiles     = 5000
	maxFileBytes = 25 << 20
	maxBytes     = 100 << 20
)

// Input is the input of a build.
type Input struct {
	// Files are the project's files, such as "/index.html" and "/src/main.tsx".
	Files map[string][]byte
	// Framework is the framework in the project's settings, such as "react" or "static". "" if it has none.
	Framework string
	// Variables are the project's variables. They override the variables of its .env files.
	Variables map[string]string
	// Root is the folder of the project that is built, such as "/client". If it is "", the build finds it.
	Root string
	// Install adds the packages that the files of the built folder need to a tree, as /node_modules. nil if there are
	// none.
	Install func(ctx context.Context, files map[string][]byte, t *tree.Tree) error
}

// File is a file of an output.
type File struct {
	Path        string // absolute, such as "/assets/main-5F2NQX7A.js"
	Data        []byte
	ContentType string
	// Hashed reports that the bundler has put a hash of the content in the name, so that browsers can cache the file
	// forever.
	Hashed bool
}

// Output is the result of a build.
type Output struct {
	Files []File // sorted by path
	// Redirects and Headers are the project's files with rules for the server of the site. They are not published.
	Redirects, Headers Rules
	// Notes and Warnings are lines for the log. A warning about a file of the project begins with its path, and its line
	// if that is known, such as "/src/app.tsx:3:7: …" of the bundler.
	Notes, Warnings []string
}

// Rules is a file with rules. It is zero if there is none.
type Rules struct {
	Path string // in the project
	Data []byte
}

// programName is the name of the program in package sandbox.
const programName = "build"

// In the process of a build, Register runs the program, and never returns. So the program must not depend on variables
// that a later init function of this package sets.
func init() { sandbox.Register(programName, runProgram) }

var (
	errMemory = &failure.Error{Code: failure.BuildFailed, Message: "The project needs more memory than a build may use. " +
		"Remove code and packages that are not needed, or move large files to /public, where they are not bundled."}
	errNesting   = &failure.Error{Code: failure.BuildFailed, Message: "The code is nested too deeply. Make it simpler."}
	errManifests = &failure.Error{Code: failure.DependencyTooLarge, Message: "The files package.json of the project and " +
		"its packages have more than 64 MiB. Remove dependencies from package.json."}
	errCPU = &failure.Error{Code: failure.BuildTimeout, Message: "The build used too much processor time. Use fewer " +
		"files or packages."}
)

// Run builds the output. When it returns, the process of the build has ended, and its folder is removed. Errors:
// *failure.Error; the error of ctx, or of Install.
//
// A file in /public replaces other files with the same output path, except HTML pages: then Run returns an error.
func Run(ctx context.Context, in Input) (Output, error) {
	var root string
	root, in.Files = in.builtFolder()
	if root != "" && len(in.Files) == 0 {
		return Output{}, failf(failure.EntryNotFound, "The project has no files in %s, the root folder in its settings. "+
			"Change rootDir of the project, or set it to \"\", so that the build finds the folder.", root)
	}
	out, err := in.run(ctx)
	if root == "" {
		return out, err
	}
	if f, ok := errors.AsType[*failure.Error](err); ok && f.Path != "" {
		moved := *f
		moved.Path = root + f.Path
		err = &moved
	}
	for _, rules := range []*Rules{&out.Redirects, &out.Headers} {
		if rules.Path != "" {
			rules.Path = root + rules.Path
		}
	}
	for i, warning := range out.Warnings {
		name, _, _ := strings.Cut(warning, ":")
		if _, ok := in.Files[name]; ok {
			out.Warnings[i] = root + warning
		}
	}
	out.Notes = append([]string{"Built the folder " + root + "."}, out.Notes...)
	return out, err
}

func (in Input) run(ctx context.Context) (Output, error) {
	if err := checkFramework(in); err != nil {
		return Output{}, err
	}
	dir, err := os.MkdirTemp("", "build-")
	if err != nil {
		return Output{}, fmt.Errorf("build: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if dir, err = filepath.EvalSymlinks(dir); err != nil { // on macOS, the folder of temporary files is a link
		return Output{}, fmt.Errorf("build: %w", err)
	}
	process, err := sandbox.Start(programName, dir)
	if err != nil {
		return Output{}, err
	}
	defer process.Close()
	t, err := tree.Create(dir)
	if err != nil {
		return Output{}, err
	}
	defer t.Close()
	if err := writeFiles(t, in); err != nil {
		return Output{}, err
	}
	if in.Install != nil {
		if err := in.Install(ctx, in.Files, t); err != nil {
			return Output{}, err
		}
	}
	var r result
	var data []byte
	if err = t.Finish(ctx); err == nil {
		data, err = process.Run(ctx, newJob(in, t), &r)
	}
	switch {
	case errors.Is(err, tree.ErrManifests):
		return Output{}, errManifests
	case errors.Is(err, sandbox.ErrMemory):
		return Output{}, errMemory
	case errors.Is(err, sandbox.ErrNesting):
		return Output{}, errNesting
	case errors.Is(err, sandbox.ErrCPU):
		return Output{}, errCPU
	case err != nil:
		return Output{}, err
	}
	return r.output(data, in)
}

// checkLimits returns an error if an output is too large, or contains a path that API Gateway does not forward. Errors:
// *failure.Error.
func checkLimits(files []outputFile) error {
	if len(files) > maxFiles {
		return failf(failure.OutputTooLarge, "The output has %d files, and the limit is %d. Delete files that the site does "+
			"not need.", len(files), maxFiles)
	}
	total := 0
	for _, f := range files {
		if f.Size > maxFileBytes {
			return failf(failure.OutputTooLarge, "The file %s of the output has %d bytes, and the limit is %d (25 MiB). Make "+
				"it smaller or delete it.", f.Path, f.Size, maxFileBytes)
		}
		total += f.Size
		if f.Path == "/ping" || f.Path == "/sping" {
			return failIn(f.Path, failure.BuildFailed, "The path %s is reserved for the health check of the server. Rename "+
				"the file.", f.Path)
		}
	}
	if total > maxBytes {
		return failf(failure.OutputTooLarge, "The output has %d bytes, and the limit is %d (100 MiB). Delete files that the "+
			"site does not need.", total, maxBytes)
	}
	return nil
}

// errResult means that the process has returned a result that no build can produce.
var errResult = errors.New("build: the result is not valid")

// output converts the result of the process to an Output. data contains the generated files, one after another. The
// other files are files of the project. output checks the files and the rules, because the process is not trusted.
func (r result) output(data []byte, in Input) (Output, error) {
	if r.Error != nil {
		return Output{}, r.Error
	}
	if err := checkLimits(r.Files); err != nil || len(r.Notes) > maxWarnings || len(r.Warnings) > maxWarnings {
		return Output{}, errors.Join(errResult, err)
	}
	out := Output{Notes: r.Notes, Warnings: r.Warnings}
	for i, f := range r.Files {
		content, ok := in.Files[f.Source]
		switch {
		case !isOutputPath(f.Path), i > 0 && f.Path <= r.Files[i-1].Path, f.Size < 0:
			return Output{}, errResult
		case f.Source == "" && f.Size <= len(data):
			content, data = data[:f.Size:f.Size], data[f.Size:]
		case !ok || len(content) != f.Size || isExcluded(f.Source):
			return Output{}, errResult
		}
		out.Files = append(out.Files, File{
			Path: f.Path, Data: content, ContentType: contenttype.Of(f.Path, utf8.Valid(content)), Hashed: f.Hashed,
		})
	}
	out.Redirects, out.Headers = r.rules(in, rule.RedirectsFile), r.rules(in, rule.HeadersFile)
	return out, nil
}

// rules returns the project's file with rules, such as "/public/_redirects". sitePath is its path in a site.
func (r result) rules(in Input, sitePath string) Rules {
	name := r.Rules[sitePath]
	data, ok := in.Files[name]
	if !ok || !strings.HasSuffix(name, sitePath) {
		return Rules{}
	}
	return Rules{Path: name, Data: data}
}
