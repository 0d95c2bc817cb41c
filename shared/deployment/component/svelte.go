package component

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"devplatform/shared/deployment/failure"
	"devplatform/shared/deployment/sass"
	"devplatform/shared/deployment/tree"
)

// svelteVersion is the version of the compiler of Svelte.
const svelteVersion = "5.57"

// svelteModule matches a script with runes, as in Vite.
var svelteModule = regexp.MustCompile(`\.svelte(\.[^./\\]+)*\.(js|ts)$`)

func isSvelteModule(file string) bool { return svelteModule.MatchString(file) }

// svelteOptions are the options of svelte.config that the compilers of all versions have, and svelte5Options the
// options that only the compiler of Svelte 5 has.
var (
	svelteOptions  = strings.Fields("accessors immutable namespace customElement preserveComments preserveWhitespace css")
	svelte5Options = strings.Fields("runes compatibility experimental discloseVersion fragments")
)

// packageCompilers are the files of the package svelte that can contain its compiler, as one script.
var packageCompilers = []string{"compiler/index.js", "compiler.cjs"}

// foreignBlock matches a script or a template in a language that the compiler does not know. Its group is the
// attribute.
var foreignBlock = regexp.MustCompile(
	`<(?:script|template)\b[^>]*\s(lang\s*=\s*["']?(?:coffee(?:script)?|livescript|pug|jade|haml)\b["']?)`)

// svelteResult is the result of the compiler of Svelte, as infra/compilers/svelte.js returns it.
type svelteResult struct {
	Error     *problem
	Code, CSS string
	Warnings  []problem
}

// prepareSvelte selects the compiler. Components need the runtime of the same version, so a project with another
// version is compiled with the compiler in its package.
func (c *Compilers) prepareSvelte() error {
	c.svelteMajor = 5
	version, major := c.versionOf("svelte")
	if version == "" || version == svelteVersion {
		return nil
	}
	for _, name := range packageCompilers {
		code := c.project.Package(tree.PackageFolder + "svelte/" + name)
		if code == nil {
			continue
		}
		err := c.svelte.engine.Load("{ const own = { exports: {} }; globalThis.compiler = ((exports, module) => {"+
			string(code)+"\n return module.exports })(own.exports, own) }", nil)
		if err == nil {
			c.svelteMajor = major
			c.svelte.notes = append(c.svelte.notes, "Components are compiled with the compiler of the project, Svelte "+
				version+".")
			return nil
		}
	}
	c.svelte.notes = append(c.svelte.notes, fmt.Sprintf("Components are compiled for Svelte %s, and the project uses "+
		"Svelte %s.", svelteVersion, version))
	return nil
}

func (c *Compilers) compileSvelte(file string, source []byte) (*Component, error) {
	if err := c.svelte.start("svelte", c.prepareSvelte); err != nil {
		return nil, err
	}
	isModule := isSvelteModule(file)
	if m := foreignBlock.FindSubmatchIndex(source); m != nil && !isModule {
		f := &failure.Error{Code: failure.BuildFailed, Message: fmt.Sprintf("Blocks with %s need a preprocessor, and builds "+
			"run none. Use HTML, JavaScript or TypeScript.", source[m[2]:m[3]])}
		return nil, f.At(file, source, m[2])
	}
	text, err := string(source), error(nil)
	if !isModule {
		if text, err = c.withoutSass(file, text); err != nil {
			return nil, err
		}
	}
	var move toSource = samePosition
	switch {
	case isModule && path.Ext(file) == ".ts":
		text, move, err = withoutTypes(file, text)
	case !isModule && c.svelteMajor < 5:
		text, move, err = scriptsWithoutTypes(file, text)
	}
	if err != nil {
		return nil, err
	}
	r, err := c.callSvelte(file, text)
	if err == nil && r.Error != nil && r.Error.Code == "typescript_invalid_feature" && !isModule {
		// Svelte removes types, but does not translate enums and other parts of TypeScript.
		if text, move, err = scriptsWithoutTypes(file, text); err == nil {
			r, err = c.callSvelte(file, text)
		}
	}
	switch {
	case err != nil:
		return nil, err
	case r.Error != nil:
		return nil, move(*r.Error).failure(file)
	}
	return r.component(file, text, move), nil
}

// styleBlock matches a style sheet that is not CSS. Its groups are the language and the text.
var styleBlock = regexp.MustCompile(
	`(?s)<style\b[^>]*\b(?:lang|type)\s*=\s*["']?(?:text/)?(scss|sass|less|styl|stylus)\b["']?[^>]*>(.*?)</style\s*>`)

// withoutSass returns a component whose style sheet is CSS. The lines of the rest stay the same. Errors:
// *failure.Error.
func (c *Compilers) withoutSass(file, source string) (string, error) {
	m := styleBlock.FindStringSubmatchIndex(source)
	if m == nil {
		return source, nil
	}
	line, lang, text := 1+strings.Count(source[:m[4]], "\n"), source[m[2]:m[3]], source[m[4]:m[5]]
	if lang != "scss" && lang != "sass" {
		return "", problem{
			Message: fmt.Sprintf("Styles with lang=%q need a tool, and builds run none. Use CSS or Sass.", lang), Line: line,
		}.failure(file)
	}
	sheet := sass.Sheet{File: file, Line: line, Text: text, IsIndented: lang == "sass", IsCompressed: true}
	css, err := c.project.Sass(sheet)
	if err != nil {
		return "", err
	}
	css = strings.TrimSpace(css)
	css += strings.Repeat("\n", max(0, strings.Count(text, "\n")-strings.Count(css, "\n")))
	return source[:m[4]] + css + source[m[5]:], nil
}

func (c *Compilers) callSvelte(file, source string) (r svelteResult, err error) {
	options := map[string]any{}
	names := svelteOptions
	if c.svelteMajor >= 5 {
		names = slices.Concat(svelteOptions, svelte5Options)
	}
	for _, name := range names {
		if value, ok := c.options[name]; ok && (name != "runes" || !tree.IsInPackage(file)) {
			options[name] = value
		}
	}
	err = c.svelte.call(map[string]any{
		"file": file, "source": source, "isModule": isSvelteModule(file), "options": options,
	}, &r)
	return r, err
}

// component returns the module of a component.
func (r svelteResult) component(file, source string, move toSource) *Component {
	out := &Component{Code: r.Code, Lang: "js"}
	if r.CSS != "" {
		out.Code += "\nimport " + quotedStylePath(file, 0) + ";\n"
		line := strings.Count(source[:max(0, strings.LastIndex(source, "<style"))], "\n")
		out.Styles = []Style{{
			Code: strings.Repeat("\n", line) + r.CSS, File: file, IsSass: styleBlock.MatchString(source),
		}}
	}
	if tree.IsInPackage(file) {
		return out
	}
	for _, w := range r.Warnings {
		f := move(w).failure(file)
		out.Warnings = append(out.Warnings, fmt.Sprintf("%s:%d:%d: %s", f.Path, f.Line, f.Column, f.Message))
	}
	return out
}
