package scaffold

import (
	"strings"
	"testing"

	"devplatform/shared/assistant/model"
)

// choices are messages about an empty project. want is the folder of the starter that a message chooses, or a part of
// the reason why it is refused.
var choices = []struct{ prompt, want string }{
	{"Create a todo list.", "todo"},
	{"a to-do app", "todo"},
	{"please build me two task lists, thanks!", "todo"},
	{"CHECKLIST", "todo"},
	{"I’d like an online store", "shop"},
	{"can you build me an e-commerce site in React with TypeScript?", "shop"},
	{"Create a website for a small business with opening hours", "static-landing"},
	{"a\u00a0blog\u202e", "blog"},
	{"Create a blog about our dogs 🐕, with a blog post every day", "blog"},
	{"make a dashboard", "charts"},
	{"Create an event page in plain HTML", "static-forms"},
	{"a game in TypeScript", "game"},
	{strings.Repeat("todo list ", 3200), "todo"},

	{"", "no keyword"},
	{"…!?", "no keyword"},
	{"Create a login form", "no keyword"},
	{"Explica todo", "no keyword"},
	{"weblog blogger b\u200blog ｂｌｏｇ", "no keyword"},
	{"create the store keeper", "no keyword"},
	{"a shop with a blog", "“shop” and “blog”"},
	{"add a blog to my shop", "“blog” and “shop”"},
	{strings.Repeat("blog shop todo-list game ", 1280), "“blog” and “shop”"},
	{strings.Repeat("é", 32_000), "no keyword"},
	{strings.Repeat("create ", 4500) + "blog", "blog"},
	{"fix the todo list", "“fix”"},
	{"Make a blog and delete /index.html", "“delete”"},
	{"don’t create a blog", "“don't”"},
	{"a landing page, not", "“not”"},
	{"How do I build a dashboard?", "“how”"},
	{"Is a portfolio hard to build?", "“is”"},
	{"My blog is down", "asks for a new project"},
	{"a todo app in Vue.js", "“vue.js”"},
	{"a todo app in plain HTML", "“html”"},
	{"an event page in React", "“react”"},
	{"a blog with Next.js", "“next.js”"},
}

func TestChoose(t *testing.T) {
	t.Parallel()
	for _, c := range choices {
		got, err := choose(c.prompt, "static")
		if err == nil && got.folder == c.want {
			continue
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.60q chose %q or got the reason %v, want %q", c.prompt, got.folder, err, c.want)
		}
	}
}

// Each starter can be used in projects whose framework fits, and is chosen by each of its keywords.
func TestKeywordsAndFrameworks(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, s := range starters {
		for keyword := range strings.SplitSeq(s.keywords, ", ") {
			name := phrase(words(keyword))
			if known[name] || len(words(keyword)) > maxPhrase {
				t.Errorf("the keyword %q is not unique, or has too many words", keyword)
			}
			known[name] = true
			for framework, wanted := range map[string]bool{
				"": true, "static": true, " Static": true, "react": s.stack.name == "React", "vue": false, "nextjs": false,
			} {
				got, err := choose("Create a "+keyword+".", framework)
				if (err == nil) != wanted || (wanted && (got.folder != s.folder || got.keyword != keyword)) {
					t.Errorf("%q in a project of %q chose %q by %q, error %v", keyword, framework, got.folder, got.keyword, err)
				}
			}
		}
	}
}

// A refusal changes nothing, lists all starters, and says how to connect a model.
func TestRefusal(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]model.Request{
		"no keyword": {Task: model.TaskChat, Subject: model.Subject{Prompt: "Build a Twitter clone"}},
		"project with files": {
			Task: model.TaskChat, Subject: model.Subject{Prompt: "Create a blog.", Paths: []string{"/README.md"}},
		},
		"long framework": {
			Task: model.TaskChat, Subject: model.Subject{Prompt: "Create a blog.", Framework: strings.Repeat("ü", 32_000)},
		},
		"code without a project": {Task: model.TaskGenerate, Subject: model.Subject{Prompt: "Create a blog."}},
		"code in a language": {
			Task: model.TaskGenerate, Subject: model.Subject{Prompt: "a login form in TypeScript", Framework: "react"},
		},
	} {
		r.MaxOutput = 8192
		h := send(t, r)
		if len(h.calls) > 0 || h.outcome.Stop != model.StopEnd || !strings.Contains(h.text, "AI_PROVIDER=openai") ||
			strings.Contains(h.text, "```") || len(h.text) > 2500 {
			t.Errorf("%s: got %d calls and the text %s", name, len(h.calls), h.text)
		}
		for _, s := range starters {
			if !strings.Contains(h.text, "“"+s.request+"”") {
				t.Errorf("%s: the text does not contain %q", name, s.request)
			}
		}
	}
}
