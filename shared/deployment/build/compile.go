package build

import (
	"bytes"
	"encoding/xml"
	"path"
	"regexp"
	"strings"

	"devplatform/shared/deployment/constant"
	"devplatform/shared/deployment/failure"
)

// compiler compiles a file to JavaScript, or names the tool that the file needs.
type compiler struct {
	// compile returns the code. Errors: *failure.Error.
	compile func(file string, data []byte) (code string, err error)
	tool    string // the tool that the files need, if builds do not have it
}

// compilers are the compilers by the query of an import, or by the extension of a file.
var compilers = map[string]compiler{
	"?init":             {compile: initWebAssembly},
	"?react":            {compile: imageComponent},
	"?" + kindComponent: {compile: componentAndURL},

	".less": {tool: "Less"}, ".styl": {tool: "Stylus"}, ".stylus": {tool: "Stylus"},
	".astro": {tool: "Astro"}, ".mdx": {tool: "MDX"},
	".coffee": {tool: "CoffeeScript"}, ".yaml": {tool: "YAML"}, ".yml": {tool: "YAML"}, ".toml": {tool: "TOML"},
	".json5": {tool: "JSON5"}, ".md": {tool: "Markdown"}, ".graphql": {tool: "GraphQL"}, ".gql": {tool: "GraphQL"},
	".wasm": {tool: "WebAssembly"},
}

// errNeedsTool returns the error for a file whose tool builds do not have.
func errNeedsTool(file string) *failure.Error {
	switch tool := compilers[strings.ToLower(path.Ext(file))].tool; tool {
	case "Less", "Stylus":
		return failf(failure.FrameworkUnsupported, "The style sheet %s needs %s, which builds do not have. Convert it to "+
			"CSS or Sass.", file, tool)
	default:
		return failf(failure.FrameworkUnsupported, "The file %s needs a tool for %s, and builds run none. Use CSS, Sass, "+
			"JavaScript, TypeScript or JSX instead. A file of data can be imported as text with ?raw, as a URL with ?url, and "+
			"WebAssembly with ?init.", file, tool)
	}
}

// initWebAssembly returns a module with a function that starts a WebAssembly module.
func initWebAssembly(file string, data []byte) (string, error) {
	if !bytes.HasPrefix(data, []byte("\x00asm")) {
		return "", failf(failure.BuildFailed, "The file %s is not a WebAssembly module.", file)
	}
	return `import url from ` + constant.Quote("./"+path.Base(file)+"?url") + `;
export default async (imports = {}) => {
	try { return (await WebAssembly.instantiateStreaming(fetch(url), imports)).instance }
	catch { return (await WebAssembly.instantiate(await (await fetch(url)).arrayBuffer(), imports)).instance }
}`, nil
}

// imageComponent returns a module with a React component that shows an SVG image.
func imageComponent(file string, data []byte) (string, error) {
	d := xml.NewDecoder(bytes.NewReader(data))
	d.Strict = false
	for {
		token, err := d.RawToken()
		if err != nil {
			return "", failf(failure.BuildFailed, "The file %s is not a valid SVG image.", file)
		}
		root, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		begin := int(d.InputOffset())
		end := max(begin, bytes.LastIndex(data, []byte("</")))
		props := map[string]any{"dangerouslySetInnerHTML": map[string]string{"__html": string(data[begin:end])}}
		for _, a := range root.Attr {
			switch name := strings.TrimPrefix(a.Name.Space+":"+a.Name.Local, ":"); name {
			case "class":
				props["className"] = a.Value
			case "style":
				props["style"] = styleOf(a.Value)
			default:
				props[name] = a.Value
			}
		}
		return `import { createElement, forwardRef } from "react";
export const ReactComponent = forwardRef((props, ref) =>
	createElement("svg", { ...` + constant.Quote(props) + `, ...props, ref }));
export default ReactComponent;`, nil
	}
}

var dashedLetter = regexp.MustCompile(`-\w`)

// styleOf returns the value of an attribute style as React expects it: as an object with names such as "fontSize".
func styleOf(css string) map[string]string {
	style := map[string]string{}
	for declaration := range strings.SplitSeq(css, ";") {
		if property, value, ok := strings.Cut(declaration, ":"); ok {
			property = dashedLetter.ReplaceAllStringFunc(strings.TrimSpace(property), func(s string) string {
				return strings.ToUpper(s[1:])
			})
			style[property] = strings.TrimSpace(value)
		}
	}
	return style
}

// componentAndURL returns the module of an SVG image in projects of Create React App. Its default export is the URL.
func componentAndURL(file string, _ []byte) (string, error) {
	name := "./" + path.Base(file)
	return "export { ReactComponent } from " + constant.Quote(name+"?react") + "\nexport { default } from " +
		constant.Quote(name+"?url"), nil
}
