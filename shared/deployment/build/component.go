package build

import (
	"bytes"
	"path"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/evanw/esbuild/pkg/api"

	"devplatform/shared/deployment/component"
	"devplatform/shared/deployment/failure"
	"devplatform/shared/deployment/sass"
	"devplatform/shared/deployment/tree"
)

// component returns the module of a component of Vue or Svelte. Errors: *failure.Error.
func (b *bundler) component(file string, data []byte) (api.OnLoadResult, error) {
	data = trimBOM(data)
	c, err := b.components.Compile(file, data)
	if err != nil {
		return api.OnLoadResult{}, err
	}
	for _, text := range c.Notes {
		b.note(text)
	}
	for _, text := range c.Warnings {
		b.warn(text)
	}
	code := c.Code
	if strings.HasSuffix(c.Lang, "x") {
		code = "/* @jsxImportSource vue */ " + code
	}
	return b.script(script{file, 1, []byte(code), data}, loaders["."+c.Lang])
}

// styleModule returns the module of a style sheet of a component. The path of the module is the file to which the paths
// in the style sheet are relative.
func (b *bundler) styleModule(file, index string) (api.OnResolveResult, error) {
	s, err := b.style(file, index)
	if err != nil {
		return api.OnResolveResult{}, err
	}
	suffix := "?" + file + "?" + index
	if s.IsSass {
		suffix += "?" + sassStyle
	}
	return api.OnResolveResult{Path: s.File, Namespace: nsStyle, Suffix: suffix}, nil
}

// sassStyle marks a style sheet of a component that was in Sass.
const sassStyle = "sass"

// style returns a style sheet of a component. Errors: *failure.Error.
func (b *bundler) style(file, index string) (component.Style, error) {
	data, err := b.load(file)
	if err != nil {
		return component.Style{}, err
	}
	c, err := b.components.Compile(file, trimBOM(data))
	if err != nil {
		return component.Style{}, err
	}
	i, err := strconv.Atoi(index)
	if err != nil || i < 0 || i >= len(c.Styles) {
		return component.Style{}, failf(failure.BuildFailed, "The component %s has no style sheet %s.", file, quote(index))
	}
	return c.Styles[i], nil
}

// loadStyle returns a style sheet of a component for the bundler.
func (b *bundler) loadStyle(a api.OnLoadArgs) (api.OnLoadResult, error) {
	file, index, _ := strings.Cut(strings.TrimPrefix(a.Suffix, "?"), "?")
	index, _, _ = strings.Cut(index, "?")
	s, err := b.style(file, index)
	if err != nil {
		return api.OnLoadResult{}, err
	}
	loader := api.LoaderCSS
	if s.IsModule {
		loader = api.LoaderLocalCSS
	}
	sheet := script{file: s.File, line: 1, code: []byte(s.Code)}
	if s.IsSass {
		if sheet.source, err = b.load(s.File); err != nil {
			return api.OnLoadResult{}, err
		}
	}
	result, err := b.styleSheet(sheet, loader)
	result.ResolveDir = b.file(path.Dir(s.File))
	return result, err
}

// componentProject implements component.Project.
type componentProject struct{ *bundler }

// Sass implements component.Project.
func (p componentProject) Sass(s sass.Sheet) (string, error) { return sassProject(p).Sass(s) }

// Source implements component.Project.
func (p componentProject) Source(file string) ([]byte, bool) {
	if !p.has(file) {
		return nil, false
	}
	data, err := p.load(file)
	return data, err == nil
}

// Package implements component.Project.
func (p componentProject) Package(file string) []byte {
	data, err := p.tree.Read(file)
	if err != nil {
		return nil
	}
	return data
}

// componentSuffixes are the ends of paths that imports of types leave out.
var componentSuffixes = []string{
	"", ".ts", ".tsx", ".d.ts", ".mts", ".vue", ".js", "/index.ts", "/index.tsx", "/index.d.ts",
}

// Resolve implements component.Project.
func (p componentProject) Resolve(importer, spec string) string {
	file, ok := p.aliasedFile(spec)
	switch {
	case isRelative(spec):
		file, ok = join(path.Dir(importer), spec)
	case strings.HasPrefix(spec, "/"):
		file, ok = join(p.web+"/", "."+spec)
	}
	if !ok || tree.IsInPackage(importer) != tree.IsInPackage(file) {
		return ""
	}
	for _, suffix := range componentSuffixes {
		if _, ok := p.Source(file + suffix); ok {
			return file + suffix
		}
	}
	return ""
}

// sourcePosition returns the line and the column in the source of a component or a style sheet for a position in its
// compiled code, or 0. line is the text of the compiled line. column is the offset of the text that a message is about,
// and length its length, both in bytes. sourcePosition looks for the line in the source, and then for this text.
func sourcePosition(source []byte, line string, column, length int) (int, int) {
	column = min(max(column, 0), len(line))
	about := line[column:min(column+max(length, 0), len(line))]
	trimmed := strings.TrimSpace(line)
	at := -1
	if len(trimmed) > 2 {
		at = bytes.Index(source, []byte(trimmed))
	}
	switch name := strings.Trim(about, "\"'`"); {
	case at >= 0:
		at += max(0, column-strings.Index(line, trimmed))
	case name != about: // compilers change quotation marks
		for _, mark := range []string{"\"", "'", "`"} {
			if at < 0 {
				at = bytes.Index(source, []byte(mark+name+mark))
			}
		}
	case len(name) > 2:
		at = bytes.Index(source, []byte(name))
	}
	if at < 0 {
		return 0, 0
	}
	before := source[:at]
	return 1 + bytes.Count(before, []byte("\n")), 1 + utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:])
}
