package scaffold

import (
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// Each folder has the files of one starter. The prefix all: includes files such as .gitignore and _redirects.
//
//go:embed all:starters
var folders embed.FS

// starter is a complete small project.
type starter struct {
	// folder is the name of its folder in starters.
	folder string
	// request is an example of a message that chooses the starter.
	request string
	stack   stack
	// about completes the sentence "The starter is …".
	about string
	// keywords are words or phrases of at most maxPhrase words, separated by commas. Each belongs to only one starter.
	keywords string
}

// stack is the language and the framework of a starter.
type stack struct {
	name string
	// frameworks are the frameworks of projects in which the starter can be used. The default of a project is static.
	frameworks []string
	// technologies are the words for the stack that a message may contain.
	technologies []string
}

var (
	react = stack{
		"React", []string{"react", "static"},
		[]string{"react", "react.js", "reactjs", "typescript", "vite", "tailwind", "static"},
	}
	plain = stack{
		"plain HTML, CSS and JavaScript", []string{"static"}, []string{"html", "css", "javascript", "vanilla", "static"},
	}
	canvas = stack{
		"TypeScript without a framework", []string{"static"}, []string{"typescript", "vite", "vanilla", "static"},
	}
)

// starters are in the order in which an answer lists them. ../README.md has the same table.
var starters = []starter{
	{
		"todo", "Create a todo list.", react,
		"a list of tasks with categories, a progress ring and a dark theme",
		"todo app, todo list, to-do app, to-do list, to do app, to do list, task app, task list, checklist",
	},
	{
		"landing", "Create a landing page.", react,
		"a page for a product, with features, prices, questions and a waitlist",
		"landing page, launch page, waitlist",
	},
	{
		"static-landing", "Create a website for a small business.", plain,
		"a site of three pages with prices, opening hours and a contact form",
		"small business, business site, business website, company site, company website",
	},
	{
		"portfolio", "Create a portfolio.", react,
		"a personal site with works, a page about the person and a dark theme",
		"portfolio, personal site, personal website, resume, cv",
	},
	{
		"blog", "Create a blog.", react,
		"a blog with posts in Markdown, tags and search",
		"blog, journal, magazine",
	},
	{
		"shop", "Create a shop.", react,
		"a shop with a catalogue, pages of products, a basket and a checkout without payment",
		"shop, web shop, webshop, online store, web store, e-commerce, ecommerce, boutique",
	},
	{
		"charts", "Create a dashboard.", react,
		"a dashboard with figures, charts and tables for three periods",
		"dashboard, analytics, admin panel",
	},
	{
		"kanban", "Create a kanban board.", react,
		"a board with columns and cards that can be dragged",
		"kanban, task board, project board",
	},
	{
		"booking", "Create a booking page.", react,
		"a page that books appointments, and a list of the bookings",
		"booking, appointment, reservation",
	},
	{
		"chat", "Create a chat app.", react,
		"an app with conversations and themes, in which sample people answer",
		"chat app, chat application, messaging app, messenger",
	},
	{
		"static-forms", "Create an event page with an invitation.", plain,
		"a page for one event, with a registration form that checks its fields",
		"event page, event site, event website, invitation, rsvp, registration form",
	},
	{
		"game", "Create a game.", canvas,
		"a game of skill on a canvas, for keyboard and touch",
		"game, arcade",
	},
}

// file is a file of a starter.
type file struct {
	Path    string `json:"path"`
	Content string `json:"content"`
}

// mainFiles are the possible paths of the main file of a starter, in order of preference. The main file is created
// first, because the code of an answer is the content of its first action.
var mainFiles = []string{"/src/App.tsx", "/index.html"}

// files returns the files of the starter, the main file first.
func (s starter) files() ([]file, error) {
	var all []file
	root := "starters/" + s.folder
	err := fs.WalkDir(folders, root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := folders.ReadFile(name)
		all = append(all, file{strings.TrimPrefix(name, root), string(content)})
		return err //nolint:wrapcheck // wrapped below
	})
	if err != nil {
		return nil, fmt.Errorf("read the starter %s: %w", s.folder, err)
	}
	for _, main := range mainFiles {
		if i := slices.IndexFunc(all, func(f file) bool { return f.Path == main }); i >= 0 {
			first := all[i]
			return slices.Insert(slices.Delete(all, i, i+1), 0, first), nil
		}
	}
	return all, nil
}
