package scaffold

import "strings"

// piece is a kind of thing that the generator writes, or a change to a file. The name of a piece is the name of its
// templates.
type piece string

const (
	starter   piece = "starter"
	form      piece = "form"
	list      piece = "list"
	todo      piece = "todo"
	table     piece = "table"
	page      piece = "page"
	endpoint  piece = "endpoint"
	component piece = "component"
	button    piece = "button"
	card      piece = "card"
	counter   piece = "counter"
	modal     piece = "modal"

	rename  piece = "rename"
	remove  piece = "delete"
	install piece = "install"
)

// thing is the meaning of a noun phrase. topic is the first word of its name, such as "login" in "login form".
type thing struct {
	piece piece
	topic string
}

// things maps noun phrases to their meaning.
var things = phrases(map[thing]string{
	{form, ""}:           "form",
	{form, "contact"}:    "contact form, contact us form",
	{form, "login"}:      "login form, log in form, log-in form, sign in form, sign-in form",
	{form, "signup"}:     "signup form, sign up form, sign-up form, registration form",
	{form, "newsletter"}: "newsletter form, newsletter signup form, subscription form",
	{form, "feedback"}:   "feedback form",
	{list, ""}:           "list",
	{todo, "todo"}:       "todo list, to-do list, to do list, list of todos",
	{todo, "task"}:       "task list, list of tasks",
	{todo, "shopping"}:   "shopping list",
	{table, ""}:          "table, data table",
	{page, ""}:           "page, web page",
	{page, "about"}:      "about page",
	{component, ""}:      "component",
	{button, ""}:         "button",
	{card, ""}:           "card",
	{counter, ""}:        "counter",
	{modal, ""}:          "modal, modal dialog, dialog",
	{endpoint, ""}: "endpoint, api endpoint, rest endpoint, crud endpoint, api, rest api, crud api, json api, " +
		"rest api endpoint, crud api endpoint",
	{starter, ""}:     "starter, starter app, starter project, example app, sample app",
	{starter, "todo"}: "todo app, to-do app, to do app, task app, todo list app, task list app",
	{starter, "app"}:  "app, web app", // only with a framework
})

// changes maps the beginnings of requests that change files.
var changes = phrases(map[piece]string{rename: "rename, move", remove: "delete, remove", install: "npm install"})

// formFields are the fields of forms that are requested without fields.
var formFields = map[string]string{
	"contact":    "name, email, message",
	"login":      "email, password",
	"signup":     "name, email, password",
	"newsletter": "email",
	"feedback":   "name, message",
}

// essentialFields are the main fields of a form. A list without any of them is refused. It may name only additional
// fields, as in "a login form with remember me".
var essentialFields = map[string]map[string]bool{
	"contact": set("email, message"), "login": set("password"), "signup": set("password"), "newsletter": set("email"),
	"feedback": set("message, comment, feedback, rating"),
}

// framework is one that has templates.
type framework string

const (
	static  framework = "static"
	react   framework = "react"
	next    framework = "nextjs"
	express framework = "express"
	golang  framework = "go"
)

// frameworks maps names to frameworks. The bare word "next" is not a name: a "next button" is something else.
var frameworks = phrases(map[framework]string{
	static:  "static, html, plain html, static html",
	react:   "react, react.js, reactjs",
	next:    "next.js, nextjs, next js",
	express: "express, express.js, expressjs",
	golang:  "go, golang",
})

// byPreference is the order in which a framework is selected if the request and the project name none.
var byPreference = []framework{static, react, express, next, golang}

// displayNames are the names of frameworks in answers.
var displayNames = map[framework]string{
	static: "plain HTML", react: "React", express: "Express", next: "Next.js", golang: "Go",
}

// fieldTypes maps the names of fields to their types. Only these names can follow a bare "with": a word such as
// "pagination" is not a field.
var fieldTypes = phrases(map[string]string{
	"text": "name, first name, last name, full name, username, user name, company, organization, department, position, street, city, zip, zip code, country, address, location, subject, title, status, category, brand, color, " +
		"author, publisher, genre, isbn, sku, code, number, order number, invoice number, customer, product, currency, role, priority, id, source, grade, size",
	"email":    "email, e-mail, email address, e-mail address",
	"tel":      "phone, phone number, telephone, mobile number",
	"password": "password",
	"number": "age, quantity, amount, price, unit price, total, total price, subtotal, cost, salary, stock, weight, height, width, length, " +
		"rating, score, points, servings, duration, year, pages",
	"date":     "date, birthday, date of birth, due date, start date, end date, deadline, order date, created, updated",
	"time":     "time, start time, end time",
	"url":      "url, website, homepage, link",
	"textarea": "message, description, comment, note, notes, bio, question, summary, feedback, instructions, ingredients, content, body, text",
	"checkbox": "done, completed, active, paid, in stock, available, published, remember me, subscribed",
})

// typeNames maps the words in parentheses after a field to types.
var typeNames = phrases(map[string]string{
	"text": "text, string", "email": "email", "tel": "phone, tel", "password": "password", "number": "number, integer",
	"date": "date", "time": "time", "url": "url, link", "textarea": "long text, textarea, multiline",
	"checkbox": "checkbox, boolean, yes/no",
})

// recordNouns are the nouns that can stand before a piece, as in "user table". Other nouns follow "of" or "for". Any
// word could stand before a piece, but most would be adjectives that the generator does not implement.
var recordNouns = set("user, users, customer, customers, product, products, order, orders, invoice, invoices, employee, employees, member, members, student, students, book, books, movie, movies, " +
	"recipe, recipes, event, events, post, posts, article, articles, payment, payments, contact, contacts, appointment, appointments, expense, expenses")

// Function words of the grammar.
const (
	polite = "please, thanks, thank you, hi, hello, can you, could you, would you please, i want, i want to, i want you to, i need, i need you to, i need to, i would like, " +
		"i would like to, i would like you to, i'd like, i'd like to, i'd like you to, we need, we want, let's, now, then, also"
	makeVerbs   = "create, make, build, add, write, generate, implement, develop, set up"
	afterVerb   = "me, us"
	determiners = "a, an, the, my, our, another, one, some, new, simple, basic"
	closing     = "please, thanks, thank you, for me, to my project, to the project, to this project, in my project, " +
		"in this project, to my app, to my site, to my website"
	forNone = "validation, input validation, form validation, client-side validation, submit button, send button"
	// notNames cannot be the name of a field, of records or of a piece. They show that a clause follows which the
	// grammar does not have.
	notNames = "a, an, the, and, or, but, not, no, that, which, who, whose, when, while, where, if, then, it, its, they, this, these, those, is, are, be, has, have, with, without, for, " +
		"from, to, of, on, in, at, by, as, like, so, than, use, uses, using, make, add, should, must, can, will"
	// otherWords show that a text is English, and cannot be the name of a package.
	otherWords = "fails, failed, failing, fail, failure, hangs, hanging, stuck, slow, error, errors, crashes, crash, crashed, breaks, broke, broken, works, worked, work, problem, problems, issue, issues, everything, again, now, " +
		"first, later, help, me, my, you, i, all, how, why, what, do, does, don't, no, yes, fix, explain, install, run, start, stop, test, build, deploy, change, update, refactor, improve, show, tell, edit, replace, write, " +
		"dependencies, packages, package, please, never, just, completed, done, finished, succeeded, successfully, correctly, properly, warning, warnings, timeout, twice, forever, globally, locally"
)

// fieldAdjectives can stand before the name of a field, as in "billing address".
var fieldAdjectives = set("shipping, billing, delivery, home, work, mobile, first, last, second, new, old, current")

// notFields cannot be the name of a field. They describe behavior or other controls, or are names that a form of HTML
// or an object of JavaScript has.
var notFields = set("except, plus, minus, never, neither, nor, either, only, just, all, any, each, every, both, two, three, four, five, six, seven, eight, nine, ten, multiple, several, " +
	"many, more, other, etc, everything, hidden, confirm, confirmation, repeat, dropdown, select, captcha, pagination, search, filter, sort, action, button, icon, photo, " +
	"image, picture, avatar, logo, file, document, attachment, upload, download, signature, terms, caption, header, footer, row, chart, map, edit, delete, dataset, " +
	"whatever, stuff, thing, anything, something, reset, elements, constructor")

// phrases reverses a map from meanings to comma-separated phrases.
func phrases[M comparable](meanings map[M]string) map[string]M {
	all := map[string]M{}
	for meaning, list := range meanings {
		for phrase := range strings.SplitSeq(list, ", ") {
			all[phrase] = meaning
		}
	}
	return all
}

// set returns a lookup of a comma-separated list of phrases.
func set(list string) map[string]bool { return phrases(map[bool]string{true: list}) }
