package component

import (
	"regexp"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
	"github.com/go-sourcemap/sourcemap"
)

// samePlace is the function from places in a text to places in a file, if they are the same.
func samePlace(p problem) problem { return p }

// withoutTypes returns a script in JavaScript, and the function from its places to places in the file. Imports stay,
// because templates can use them. Errors: *failure.Error.
func withoutTypes(file, code string) (string, func(problem) problem, error) {
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
func scriptsWithoutTypes(file, source string) (string, func(problem) problem, error) {
	var text strings.Builder
	var places []block
	end := 0
	for _, m := range typescriptBlock.FindAllStringSubmatchIndex(source, -1) {
		before := strings.Count(source[:m[2]], "\n")
		code, positions, err := withoutTypes(file, strings.Repeat("\n", before)+source[m[2]:m[3]])
		if err != nil {
			return "", nil, err
		}
		text.WriteString(source[end:m[2]])
		first := strings.Count(text.String(), "\n")
		text.WriteString("\n" + code)
		places = append(places, block{
			first: first + 1, last: first + 1 + strings.Count(code, "\n"), next: strings.Count(source[:m[3]], "\n"),
			positions: positions,
		})
		end = m[3]
	}
	text.WriteString(source[end:])
	return text.String(), func(p problem) problem { return placeIn(places, p) }, nil
}

// block is a script that was replaced: the number of lines of the text before it and before its end, and of the file
// before its end.
type block struct {
	first, last, next int
	positions         func(problem) problem
}

func placeIn(places []block, p problem) problem {
	for i := len(places) - 1; i >= 0 && p.Line > 0; i-- {
		switch b := places[i]; {
		case p.Line > b.last:
			p.Line += b.next - b.last
			return p
		case p.Line > b.first:
			p.Line -= b.first
			return b.positions(p)
		}
	}
	return p
}
