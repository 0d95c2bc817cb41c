package scaffold

import (
	"fmt"
	"slices"
	"strings"
)

// outlineHTML reads a document.
func outlineHTML(content string) []string {
	var title, headings, styles, scripts, forms, fields, regions []string
	links, images := 0, 0
	for _, t := range scanMarkup(content) {
		if t.closing {
			continue
		}
		switch low := strings.ToLower(t.name); low {
		case "title":
			title = append(title, oneLine(t.text))
		case "h1", "h2", "h3":
			if text := oneLine(t.text); text != "" {
				headings = append(headings, text)
			}
		case "link":
			if strings.Contains(strings.ToLower(t.attrs["rel"]), "stylesheet") {
				styles = append(styles, t.attrs["href"])
			}
		case "style":
			styles = append(styles, "inline")
		case "script":
			scripts = append(scripts, firstOf(t.attrs["src"], "inline"))
		case "form":
			forms = append(forms, strings.TrimSpace(strings.ToUpper(firstOf(t.attrs["method"], "get"))+" "+t.attrs["action"]))
		case "input", "select", "textarea":
			if name := firstOf(t.attrs["name"], t.attrs["id"]); name != "" {
				fields = append(fields, name)
			}
		case "a":
			links++
		case "img":
			images++
		case "header", "nav", "main", "aside", "footer", "section", "article":
			regions = append(regions, low)
		}
	}
	points := slices.Concat(point("Title", title), point("Headings", headings), point("Regions", regions), point("Forms", forms), point("Fields", fields),
		point("Styles", styles), point("Scripts", scripts))
	if links+images > 0 {
		points = append(points, fmt.Sprintf("%s and %s", plural(links, "link"), plural(images, "image")))
	}
	return points
}

// outlineVue reads a single-file component.
func outlineVue(content string) []string {
	points, tags, s := component(content, "template")
	var directives []string
	for _, t := range tags {
		for name := range t.attrs {
			if strings.HasPrefix(name, "v-") {
				directives = append(directives, strings.SplitN(name, ":", 2)[0])
			}
		}
	}
	slices.Sort(directives)
	return slices.Concat(points, point("Macros", s.macros), point("Directives", directives))
}

// outlineSvelte reads a component.
func outlineSvelte(content string) []string {
	points, _, s := component(content, "")
	var runes []string
	for i, t := range s.tokens {
		if t.kind == tokenName && strings.HasPrefix(t.text, "$") && len(t.text) > 2 && (s.tok(i+1).text == "(" || s.tok(i+1).text == ".") && isRune.of(t.text) {
			runes = append(runes, t.text)
		}
	}
	return slices.Concat(points, point("Runes", runes))
}

var isRune = setOf("$state $derived $effect $props $bindable $inspect $host")

// component is what the parts of a single-file component have in common: its scripts, styles, and the tags of its template.
func component(content, template string) (points []string, tags []tag, script *scriptOutline) {
	var scripts, styles, used []string
	var source strings.Builder
	inside := template == ""
	for _, t := range scanMarkup(content) {
		switch low := strings.ToLower(t.name); {
		case low == "script" && !t.closing:
			scripts = append(scripts, label("script", t, "setup", "context", "module", "lang"))
			source.WriteString(t.text + "\n")
		case low == "style" && !t.closing:
			styles = append(styles, label("style", t, "scoped", "module", "lang"))
		case low == template && template != "" && !t.closing:
			inside = true
		case t.closing || !inside:
		case isCapitalName(t.name):
			used = append(used, t.name)
			tags = append(tags, t)
		default:
			tags = append(tags, t)
		}
	}
	script = readScript(source.String())
	script.components = nil
	points = slices.Concat(point("Blocks", slices.Concat(scripts, styles)), script.points(), point("Components in the template", used))
	return points, tags, script
}

func isCapitalName(s string) bool { return s != "" && s[0] >= 'A' && s[0] <= 'Z' }

// label is a block with those of its attributes that matter.
func label(name string, t tag, attrs ...string) string {
	for _, a := range attrs {
		if v, ok := t.attrs[a]; ok {
			name += " " + a
			if v != "" {
				name += "=" + v
			}
		}
	}
	return name
}

// outlineCSS reads a style sheet, also of languages that nest.
func outlineCSS(content string) []string {
	var selectors, media, frames, variables, imports []string
	rules := 0
	for _, r := range scanStyles(content) {
		low := strings.ToLower(r.head)
		switch {
		case strings.HasPrefix(low, "@import"), strings.HasPrefix(low, "@use"):
			imports = append(imports, strings.TrimSpace(r.head[strings.IndexAny(r.head+" ", " "):]))
		case strings.HasPrefix(low, "@media"), strings.HasPrefix(low, "@container"), strings.HasPrefix(low, "@supports"):
			media = append(media, r.head)
		case strings.HasPrefix(low, "@keyframes"):
			frames = append(frames, strings.TrimSpace(r.head[len("@keyframes"):]))
		case strings.HasPrefix(low, "--"):
			name, _, _ := strings.Cut(r.head, ":")
			variables = append(variables, strings.TrimSpace(name))
		case r.block && !strings.HasPrefix(low, "@"):
			rules++
			selectors = append(selectors, r.head)
		}
	}
	points := point("Selectors", selectors)
	if rules > 0 {
		points = append([]string{plural(rules, "rule")}, points...)
	}
	return slices.Concat(points, point("Imports", imports), point("Conditions", media), point("Animations", frames), point("Custom properties", variables))
}

// styleRule is what stands before a brace or a semicolon.
type styleRule struct {
	head  string
	block bool
}

// scanStyles takes a style sheet apart.
func scanStyles(src string) []styleRule {
	var out []styleRule
	var head strings.Builder
	frames := 0 // depth inside of @keyframes, whose steps are no selectors
	put := func(block bool) {
		text := oneLine(head.String())
		head.Reset()
		if text != "" && frames == 0 {
			out = append(out, styleRule{text, block})
		}
		if block && (frames > 0 || strings.HasPrefix(strings.ToLower(text), "@keyframes")) {
			frames++
		}
	}
	for i := 0; i < len(src); {
		switch c := src[i]; {
		case strings.HasPrefix(src[i:], "/*"):
			i = min(i+indexOr(src[i:], "*/", len(src))+2, len(src))
			continue
		case c == '"' || c == '\'':
			end := strings.IndexByte(src[i+1:], c)
			if end < 0 {
				end = len(src) - i - 2
			}
			head.WriteString(src[i : i+end+2])
			i += end + 2
			continue
		case c == '{':
			put(true)
		case c == ';':
			put(false)
		case c == '}':
			put(false)
			frames = max(frames-1, 0)
		default:
			head.WriteByte(c)
		}
		i++
	}
	return out
}
