package build

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"devplatform/shared/deployment/failure"
)

// envFiles are the files of variables that Vite reads for production. Later files win.
var envFiles = []string{"/.env", "/.env.local", "/.env.production", "/.env.production.local"}

// The limits of the variables: each file that the bundler reads is compared with all of them.
const (
	maxEnvBytes = 64 << 10 // of a file, and of all values that programs can read
	maxEnvNames = 1000
)

// constants returns the constants that programs can read, as in Vite: names to JavaScript values. Of the variables,
// programs can read only those that begin with VITE_. Errors: *failure.Error.
func constants(j job) (env map[string]any, all map[string]string, err error) {
	variables, err := readVariables(j)
	if err != nil {
		return nil, nil, err
	}
	env = map[string]any{"MODE": "production", "PROD": true, "DEV": false, "SSR": false, "BASE_URL": "/"}
	total := 0
	e := expander{variables: variables, bytes: maxExpandedBytes}
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		if isPublicVariable(name) {
			value := e.expand(name)
			env[name] = value
			total += len(value)
			switch {
			case e.bytes < 0:
				return nil, nil, failf(failure.BuildFailed, "The variables in the .env files refer to each other too often. "+
					"Write the values without references.")
			case total > maxEnvBytes:
				return nil, nil, failf(failure.BuildFailed, "The values of the variables that begin with VITE_ or REACT_APP_ "+
					"have more than %d bytes. Make them shorter.", maxEnvBytes)
			}
		}
	}
	vite := maps.Clone(env)
	maps.DeleteFunc(vite, func(name string, _ any) bool { return strings.HasPrefix(name, "REACT_APP_") })
	all = map[string]string{
		"process.env.NODE_ENV":   `"production"`,
		"process.env.PUBLIC_URL": `""`,
		"process.env":            `{}`,
		"import.meta.hot":        `undefined`,
		"import.meta.env":        quoteJSON(vite),
	}
	for name, value := range env {
		if _, ok := vite[name]; ok {
			all["import.meta.env."+name] = quoteJSON(value)
		} else {
			all["process.env."+name] = quoteJSON(value)
		}
	}
	env["PUBLIC_URL"] = ""
	return env, all, nil
}

// isPublicVariable reports whether programs can read a variable: in Vite, or in Create React App.
func isPublicVariable(name string) bool {
	return strings.HasPrefix(name, "VITE_") || strings.HasPrefix(name, "REACT_APP_")
}

// readVariables returns the variables of the files, without expansion. Errors: *failure.Error.
func readVariables(j job) (map[string]string, error) {
	variables := map[string]string{}
	for _, name := range envFiles {
		data, ok := j.Env[name]
		if !ok {
			continue
		}
		if len(data) <= maxEnvBytes {
			maps.Copy(variables, parseEnv(string(trimBOM(data))))
		}
		if len(data) > maxEnvBytes || len(variables) > maxEnvNames {
			return nil, &failure.Error{Code: failure.BuildFailed, Path: name, Message: fmt.Sprintf(
				"The file has more than %d bytes or %d variables. Remove those that the site does not need.", maxEnvBytes,
				maxEnvNames)}
		}
	}
	for name, value := range j.Variables {
		variables[name] = strings.ReplaceAll(value, "$", `\$`) // they have no references
	}
	return variables, nil
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

// The limits of references. Without them, values could grow without end.
const (
	maxReferences    = 100     // that are expanded for a variable; the value of the others is empty
	maxExpandedBytes = 1 << 20 // that are searched for references in a build
)

// expander expands the references of variables.
type expander struct {
	variables map[string]string
	bytes     int // that may still be searched; negative if the limit is exceeded
}

// expand returns the value of a variable with the values of the variables to which it refers. References in those are
// expanded, too. If the limit of bytes is exceeded, the value is not complete.
func (e *expander) expand(name string) string {
	left := maxReferences
	var value func(text string) string
	value = func(text string) string {
		if e.bytes -= len(text); e.bytes < 0 {
			return ""
		}
		return envReference.ReplaceAllStringFunc(text, func(reference string) string {
			if reference[0] == '\\' {
				return reference[1:]
			}
			if left--; left < 0 || e.bytes < 0 {
				return ""
			}
			m := envReference.FindStringSubmatch(reference)
			if found := e.variables[m[1]+m[2]]; found != "" {
				return value(found)
			}
			return m[3]
		})
	}
	return value(e.variables[name])
}

// trimBOM removes the byte order mark at the beginning of a text.
func trimBOM(data []byte) []byte { return bytes.TrimPrefix(data, []byte("\ufeff")) }

// quoteJSON returns a value as a JavaScript expression.
func quoteJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // the values are strings, booleans and maps of them
	}
	return string(text)
}
