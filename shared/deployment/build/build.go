// Package build makes the output of a deployment from the files of a project. It bundles JavaScript, TypeScript and CSS
// in memory, and copies static files. It executes no code of the project, reads no file of the machine and makes no
// network calls: all files, including those of packages, are arguments.
//
// page.go and entry.go find the entries in the HTML pages. bundle.go runs the bundler, esbuild. esbuild sees files only
// through plugin.go, which resolves imports by resolve.go, manifest.go and tsconfig.go. meta.go, metaglob.go and env.go
// do what Vite does with import.meta. computed.go finds the one kind of import that esbuild would resolve without the
// plugin. message.go translates the bundler's messages. copy.go decides which other files are published.
package build

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"devplatform/shared/deployment/failure"
)

// The limits of an output.
const (
	maxFiles     = 5000
	maxFileBytes = 25 << 20
	maxBytes     = 100 << 20
)

// Input is the files from which an output is made. The paths are absolute, with slashes.
type Input struct {
	// Files are the project's files, such as "/index.html" and "/src/main.tsx".
	Files map[string][]byte
	// Packages are the files of npm packages, such as "/node_modules/react/package.json" and
	// "/node_modules/a/node_modules/b/index.js".
	Packages map[string][]byte
	// Framework is the framework in the project's settings, such as "react" or "static". "" if it has none.
	Framework string
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
	// Warnings are messages that did not stop the build, such as "/src/app.tsx:3:7: …" of the bundler.
	Warnings []string
}

// Run builds the output. Errors: *failure.Error; the error of ctx. If ctx ends, Run returns at once, and the bundler
// stops later in the background, when it has finished the files that it parses. In measurements, that took up to 4
// seconds, and 15 seconds with thousands of large files that each have an error.
//
// The files in /public win over other files with the same output path, except over HTML pages, which are an error.
func Run(ctx context.Context, in Input) (Output, error) {
	if err := Check(in); err != nil {
		return Output{}, err
	}
	s, err := findPages(ctx, in)
	if err != nil {
		return Output{}, err
	}
	bundled, err := bundle(ctx, in, s)
	if err != nil {
		return Output{}, err
	}
	files, warnings := copyFiles(in, s)
	files.addBundle(in, s, bundled)
	if err := files.addPages(ctx, s, bundled); err != nil {
		return Output{}, err
	}
	if err := checkLimits(files); err != nil {
		return Output{}, err
	}
	if err := ctx.Err(); err != nil {
		return Output{}, fmt.Errorf("finish the build: %w", err)
	}
	warnings = append(warnings, bundled.warnings...)
	out := Output{Warnings: warnings[:min(len(warnings), maxWarnings)]}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		out.Files = append(out.Files, files[name])
	}
	return out, nil
}

// outputs are the files of an output by path.
type outputs map[string]File

// checkLimits returns an error if an output is too large, or contains a path that API Gateway does not forward.
func checkLimits(files outputs) error {
	if len(files) > maxFiles {
		return &failure.Error{Code: failure.OutputTooLarge, Message: fmt.Sprintf(
			"The output has %d files, and the limit is %d. Delete files that the site does not need.", len(files), maxFiles)}
	}
	total := 0
	for _, name := range slices.Sorted(maps.Keys(files)) {
		size := len(files[name].Data)
		if size > maxFileBytes {
			return &failure.Error{Code: failure.OutputTooLarge, Message: fmt.Sprintf(
				"The file %s of the output has %d bytes, and the limit is %d (25 MiB). Make it smaller or delete it.",
				name, size, maxFileBytes)}
		}
		total += size
		if name == "/ping" || name == "/sping" {
			return &failure.Error{Code: failure.BuildFailed, Path: name, Message: fmt.Sprintf(
				"The path %s is reserved for the health check of the server. Rename the file.", name)}
		}
	}
	if total > maxBytes {
		return &failure.Error{Code: failure.OutputTooLarge, Message: fmt.Sprintf(
			"The output has %d bytes, and the limit is %d (100 MiB). Delete files that the site does not need.",
			total, maxBytes)}
	}
	return nil
}
