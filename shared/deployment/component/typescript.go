package component

import (
	"regexp"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
	"github.com/go-sourcemap/sourcemap"
)

// toSource moves a problem from its position in a changed text to the position in the file.
type toSource func(problem) problem

// samePosition is the toSource of a text in which positions are the same as in the file.
func samePosition(p problem) problem { return p }

// withoutTypes returns a script in JavaScript. Imports stay, because templates can use them. Errors: *failure.Error.
func withoutTypes(file, code string) (string, toSource, error) {
	out := api.Transform(code, api.TransformOptions{
		Loader: api.LoaderTS, Target: api.ESNext, Sourcemap: api.SourceMapExternal, Sourcefile: file,
		Charset:     api.CharsetUTF8,
		TsconfigRaw: `{"compilerOptions":{"verbatimModuleSyntax":true,"useDefineForClassFields":true}}`,
		LogLevel:    api.LogLevelSilent,
	})
	if len(out.Errors) > 0 {
		p := problem{Message: out.Errors[0].Text}
		if l := out.Errors[0].Location; l != nil {
			p.Line, p.Column = l.Line, l.Column+1
		}
		return "", nil, p.failure(file)
	}
	sources, err := sourcemap.Parse("", out.Map)
	if err != nil {
		return "", nil, err //nolint:wrapcheck // a bug of esbuild
	}
	return string(out.Code), func(p problem) problem {
		if _, _, line, column, ok := sources.Source(p.Line, p.Column-1); ok {
			p.Line, p.Column = line, column+1
		}
		return p
	}, nil
}

// typescriptBlock matches a script in TypeScript. Its group is the code.
var typescriptBlock = regexp.MustCompile(
	`(?s)<script\b[^>]*\blang\s*=\s*["']?(?:ts|typescript)\b["']?[^>]*>(.*?)</script\s*>`)

// scriptsWithoutTypes is withoutTypes for the scripts of a component.
func scriptsWithoutTypes(file, source string) (string, toSource, error) {
	var text strings.Builder
	var scripts []script
	end := 0
	for _, m := range typescriptBlock.FindAllStringSubmatchIndex(source, -1) {
		before := strings.Count(source[:m[2]], "\n")
		code, move, err := withoutTypes(file, strings.Repeat("\n", before)+source[m[2]:m[3]])
		if err != nil {
			return "", nil, err
		}
		text.WriteString(source[end:m[2]])
		text.WriteString("\n")
		start := strings.Count(text.String(), "\n")
		text.WriteString(code)
		scripts = append(scripts, script{
			start: start, end: start + strings.Count(code, "\n"), sourceEnd: strings.Count(source[:m[3]], "\n"), move: move,
		})
		end = m[3]
	}
	text.WriteString(source[end:])
	return text.String(), func(p problem) problem {
		for _, s := range slices.Backward(scripts) {
			switch {
			case p.Line > s.end:
				p.Line += s.sourceEnd - s.end
				return p
			case p.Line > s.start:
				p.Line -= s.start
				return s.move(p)
			}
		}
		return p
	}, nil
}

// script is a script of a component that was translated.
type script struct {
	start, end int // number of lines of the changed text before the start and before the end of the script
	sourceEnd  int // number of lines of the file before the end of the script
	move       toSource
}
