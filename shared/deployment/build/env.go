package build

import (
	"bytes"
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"

	"devplatform/shared/deployment/constant"
	"devplatform/shared/deployment/failure"
)

// envFiles are the files of variables that Vite reads for production. Later files win.
var envFiles = []string{"/.env", "/.env.local", "/.env.production", "/.env.production.local"}

// envPaths returns the paths of the files of variables at the root of the project, and then in web, the folder that
// vite.config names as root. Vite reads the files in web only, but many projects have them beside vite.config.
func envPaths(web string) []string {
	paths := slices.Clone(envFiles)
	if web != "" {
		for _, name := range envFiles {
			paths = append(paths, web+name)
		}
	}
	return paths
}

// The limits of the variables: each file that the bundler reads is compared with all of them.
const (
	maxEnvBytes = 64 << 10 // of a file, and of all values that scripts of the site can read
	maxEnvNames = 1000
)

// constants returns the constants that scripts of the site can read, as in Vite: values by name, and JavaScript values
// by expression. Of the variables, scripts can read only the public ones. web is the folder that vite.config names as
// root, or "". Errors: *failure.Error.
func constants(j job, web string) (env map[string]any, expressions map[string]string, err error) {
	v, err := readVariables(j, web)
	if err != nil {
		return nil, nil, err
	}
	env = map[string]any{"MODE": "production", "PROD": true, "DEV": false, "SSR": false, "BASE_URL": "/"}
	total := 0
	for name := range v.values {
		if isPublicVariable(name) {
			value := v.expand(name)
			env[name] = value
			total += len(value)
		}
	}
	if total > maxEnvBytes || v.isTooLong {
		return nil, nil, failf(failure.BuildFailed, "The values of the variables that begin with VITE_ or REACT_APP_ have "+
			"more than %d bytes. Make them shorter.", maxEnvBytes)
	}
	expressions = map[string]string{
		"process.env.NODE_ENV":   `"production"`,
		"process.env.PUBLIC_URL": `""`,
		"process.env":            `{}`,
		"import.meta.hot":        `undefined`,
		"global":                 `globalThis`,
		"__dirname":              `"/"`,
		"__filename":             `"/index.js"`,
		"import.meta.env":        constant.Quote(env),
		"__VUE_OPTIONS_API__":    `true`,
		"__VUE_PROD_DEVTOOLS__":  `false`,

		"__VUE_PROD_HYDRATION_MISMATCH_DETAILS__": `false`,
	}
	for method := range strings.FieldsSeq("accept decline dispose invalidate off on prune send") {
		expressions["import.meta.hot."+method] = "Boolean" // does nothing, so that a call without a check does not throw
	}
	for name, value := range env {
		expressions["import.meta.env."+name] = constant.Quote(value)
		if isPublicVariable(name) {
			expressions["process.env."+name] = constant.Quote(value)
		}
	}
	env["PUBLIC_URL"] = "" // for pages only, as in Create React App
	return env, expressions, nil
}

// isPublicVariable reports whether scripts of the site can read a variable: in Vite, or in Create React App.
func isPublicVariable(name string) bool {
	return strings.HasPrefix(name, "VITE_") || strings.HasPrefix(name, "REACT_APP_")
}

// variables are the variables of a project.
type variables struct {
	values    map[string]string
	expanded  map[string]bool // whether the references of a variable are being replaced, or have been
	isTooLong bool            // whether a value was too long
}

// readVariables returns the variables of the files and of the project. Errors: *failure.Error.
func readVariables(j job, web string) (*variables, error) {
	v := &variables{values: map[string]string{}, expanded: map[string]bool{}}
	for _, name := range envPaths(web) {
		data := j.Settings[name]
		if len(data) <= maxEnvBytes {
			maps.Copy(v.values, parseEnv(string(trimBOM(data))))
		}
		if len(data) > maxEnvBytes || len(v.values) > maxEnvNames {
			return nil, failIn(name, failure.BuildFailed, "The file has more than %d bytes or %d variables. Remove variables "+
				"that the site does not need.", maxEnvBytes, maxEnvNames)
		}
	}
	for name, value := range j.Variables {
		v.values[name], v.expanded[name] = value, true // they have no references
	}
	return v, nil
}

// envLine matches a variable: its name and its value. A value in quotes can have several lines.
var envLine = regexp.MustCompile("(?m)^[ \t]*(?:export[ \t]+)?(\\w+)[ \t]*=[ \t]*" +
	"(\"(?:[^\"\\\\]|\\\\.|\\\\\n)*\"|'[^']*'|`[^`]*`|[^#\n]*)[ \t]*(?:#.*)?$")

// parseEnv returns the variables of a file.
func parseEnv(text string) map[string]string {
	variables := map[string]string{}
	for _, m := range envLine.FindAllStringSubmatch(strings.ReplaceAll(text, "\r\n", "\n"), -1) {
		value := strings.TrimSpace(m[2])
		switch {
		case len(value) < 2 || !strings.Contains("\"'`", value[:1]) || value[0] != value[len(value)-1]:
		case value[0] == '"':
			value = strings.NewReplacer(`\n`, "\n", `\r`, "\r").Replace(value[1 : len(value)-1])
		default:
			value = value[1 : len(value)-1]
		}
		variables[m[1]] = value
	}
	return variables
}

// envReference matches $NAME, ${NAME} and ${NAME:-default}, also after a backslash, which makes it plain text.
var envReference = regexp.MustCompile(`\\?\$(?:(\w+)|\{(\w+)(?::?-([^{}]*))?\})`)

// expand returns the value of a variable, in which it replaces the references to other variables. A reference of a
// variable to itself is empty.
func (v *variables) expand(name string) string {
	if v.expanded[name] {
		return v.values[name]
	}
	v.expanded[name] = true
	text := v.values[name]
	v.values[name] = ""
	value := envReference.ReplaceAllStringFunc(text, func(reference string) string {
		if reference[0] == '\\' {
			return reference[1:]
		}
		m := envReference.FindStringSubmatch(reference)
		return cmp.Or(v.expand(m[1]+m[2]), m[3])
	})
	if len(value) > maxEnvBytes {
		v.isTooLong, value = true, ""
	}
	v.values[name] = value
	return value
}

// trimBOM removes the byte order mark at the beginning of a text.
func trimBOM(data []byte) []byte { return bytes.TrimPrefix(data, []byte("\ufeff")) }
