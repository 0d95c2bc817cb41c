package component

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"devplatform/shared/deployment/constant"
	"devplatform/shared/deployment/sass"
)

// vueVersion is the version of the compiler of Vue.
const vueVersion = "3.5"

// vueResult is the result of the compiler of Vue, as infra/compilers/vue.js returns it.
type vueResult struct {
	Error      *problem
	Code, Lang string
	IsRendered bool   // whether the code has a function _sfc_render
	ScopeID    string // "" if no style is scoped
	Styles     []struct {
		Code, File string
		Line       int
		IsModule   bool
		IsSass     bool
		Name       string // under which the template finds the names
	}
	Ignored []string // blocks
}

func (c *Compilers) compileVue(file string, source []byte) (*Component, error) {
	err := c.vue.start("vue", func() error {
		if version, _ := c.versionOf("vue"); version != "" && version != vueVersion {
			c.vue.notes = append(c.vue.notes, fmt.Sprintf("Components are compiled for Vue %s, and the project uses Vue %s.",
				vueVersion, version))
		}
		return errors.Join(c.vue.engine.Register("readFile", func(texts []string) (string, error) {
			data, _ := c.source(c.vue.file, texts[0])
			return string(data), nil
		}), c.vue.engine.Register("resolveFile", func(texts []string) (string, error) {
			return c.project.Resolve(texts[0], texts[1]), nil
		}), c.vue.engine.Register("compileSass", c.compileSass))
	})
	if err != nil {
		return nil, err
	}
	hash := sha256.Sum256([]byte(file))
	var r vueResult
	in := map[string]string{"file": file, "source": string(source), "id": hex.EncodeToString(hash[:4])}
	c.vue.hostErr = nil
	if err := c.vue.call(in, &r); err != nil {
		return nil, err
	}
	if c.vue.hostErr != nil {
		return nil, c.vue.hostErr
	}
	if r.Error != nil {
		return nil, r.Error.failure(file)
	}
	return r.component(file), nil
}

// compileSass returns the CSS of a style sheet. texts are the file, the language, the first line and the style sheet.
func (c *Compilers) compileSass(texts []string) (string, error) {
	line, err := strconv.Atoi(texts[2])
	if err != nil {
		return "", err //nolint:wrapcheck // a bug
	}
	css, err := c.project.Sass(sass.Sheet{File: texts[0], Line: line, Text: texts[3], IsIndented: texts[1] == "sass"})
	if c.vue.hostErr == nil {
		c.vue.hostErr = err
	}
	return css, err
}

// component returns the module of a component.
func (r vueResult) component(file string) *Component {
	out := &Component{Lang: r.Lang}
	var code strings.Builder
	code.WriteString(r.Code + "\n")
	var properties, modules []string
	if r.IsRendered {
		properties = append(properties, "render: _sfc_render")
	}
	if r.ScopeID != "" {
		properties = append(properties, "__scopeId: "+constant.Quote(r.ScopeID))
	}
	for i, s := range r.Styles {
		name := ""
		if s.IsModule {
			name = fmt.Sprintf("_sfc_style%d from ", i)
			modules = append(modules, constant.Quote(s.Name)+fmt.Sprintf(": _sfc_style%d", i))
		}
		code.WriteString("import " + name + quotedStylePath(file, i) + "\n")
		css := strings.Repeat("\n", max(0, s.Line-1)) + s.Code // so that the lines have their numbers
		out.Styles = append(out.Styles, Style{Code: css, File: s.File, IsModule: s.IsModule, IsSass: s.IsSass})
	}
	if len(modules) > 0 {
		properties = append(properties, "__cssModules: {"+strings.Join(modules, ", ")+"}")
	}
	if len(properties) == 0 {
		code.WriteString("export default _sfc_main\n")
	} else {
		// A call that is marked as pure, so that a component that is not used is not in the bundle.
		code.WriteString("export default /* @__PURE__ */ ((c, p) => (Object.assign(c.__vccOpts || c, p), c))(_sfc_main, {" +
			strings.Join(properties, ", ") + "})\n")
	}
	out.Code = code.String()
	for _, block := range r.Ignored {
		out.Notes = append(out.Notes, fmt.Sprintf("%s: The block %s is ignored, because builds run no plugins.", file, block))
	}
	return out
}
