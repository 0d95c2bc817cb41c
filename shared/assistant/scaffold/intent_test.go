package scaffold

import (
	"fmt"
	"strings"
	"testing"

	"devplatform/shared/assistant/action"
	"devplatform/shared/assistant/model"
	"devplatform/shared/assistant/scaffold/blueprint"
)

// outline says in a line for each thing what a prompt came to: what was to be made, with which names, and what was done to files.
func outline(f model.Facts) string {
	c := newConversation(factsOf(f))
	var lines []string
	c.build = func(s blueprint.Spec) (blueprint.Result, error) {
		lines = append(lines, specLine(s))
		name := strings.Join(s.Name, "-")
		result := blueprint.Result{Files: []blueprint.File{{Path: fmt.Sprintf("/made/%s-%s%d.js", s.Kind, name, len(s.Paths)), Content: "x\n"}}}
		if s.Kind == blueprint.Test && s.SubjectPath == "" {
			result.Files = append(result.Files, blueprint.File{Path: fmt.Sprintf("/made/%s-%s%d.js", s.Subject, name, len(s.Paths)), Content: "x\n"})
		}
		return result, nil
	}
	a := c.answer()
	for _, s := range a.steps {
		for _, d := range s.acts {
			switch d.kind {
			case action.DeleteFile:
				lines = append(lines, "delete "+d.input.Path)
			case action.RenameFile:
				lines = append(lines, "rename "+d.input.Path+" "+d.input.To)
			}
		}
	}
	for _, d := range additions(a.steps) {
		lines = append(lines, "add "+d.input.Path+" "+strings.Join(d.input.Packages, " "))
	}
	if len(lines) == 0 {
		return "-"
	}
	return strings.Join(lines, "; ")
}

func specLine(s blueprint.Spec) string {
	kind := string(s.Kind)
	if s.Table {
		kind = "table"
	}
	if s.Utility != "" {
		kind += "/" + s.Utility
	}
	line := kind + " " + string(s.Framework) + " " + strings.Join(s.Name, "-")
	if s.Kind == blueprint.Test {
		line += " of " + string(s.Subject) + " " + s.SubjectPath
	}
	if s.TypeScript {
		line += " ts"
	}
	for _, f := range s.Fields {
		line += " " + strings.Join(f.Name, "-") + ":" + f.Type
		if !f.Required {
			line += "?"
		}
	}
	if len(s.Methods) > 0 {
		line += " " + strings.Join(s.Methods, ",")
	}
	return strings.TrimSpace(line)
}

var (
	reactApp = model.Facts{Framework: "react", Paths: []string{"/package.json", "/src/App.jsx", "/src/components/Button.jsx", "/src/old.js", "/src/utils/date.js",
		"/src/components/UserCard.jsx", "/src/hooks/useAuth.js", "/src/legacy/old-page.jsx", "/src/pages/index.jsx", "/src/admin/index.jsx", "/README.md"}}
	expressApp = model.Facts{Framework: "express", Paths: []string{"/package.json", "/server.js", "/src/routes/users.js", "/src/routes/orders.js"}}
	goApp      = model.Facts{Framework: "go", Paths: []string{"/go.mod", "/main.go", "/handlers/users.go"}}
	vueApp     = model.Facts{Framework: "vue", Paths: []string{"/package.json", "/src/App.vue", "/src/main.ts", "/tsconfig.json"}}
	staticApp  = model.Facts{Framework: "static", Paths: []string{"/index.html", "/style.css"}}
	monorepo   = model.Facts{Framework: "nextjs", CurrentFile: "/apps/web/app/page.tsx", Paths: []string{"/package.json", "/apps/web/package.json",
		"/apps/web/app/page.tsx", "/apps/api/package.json", "/apps/api/server.ts"}}
	empty = model.Facts{}
)

func TestPromptsBecomeThings(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		project model.Facts
		prompt  string
		want    string
	}{
		// Components.
		{reactApp, "create a Navbar component", "component react navbar"},
		{reactApp, "Please create a new navbar component.", "component react navbar"},
		{reactApp, "Create component UserProfile", "component react user-profile"},
		{reactApp, "make me a component called UserAvatar", "component react user-avatar"},
		{reactApp, `a component named "price tag"`, "component react price-tag"},
		{reactApp, "I need a simple, responsive hero section", "component react hero-section"},
		{reactApp, "could you build a pricing-card component please?", "component react pricing-card"},
		{reactApp, "create a compnent ProductCard", "component react product-card"},
		{reactApp, "creat a footer componnet", "component react footer"},
		{reactApp, "add a sidebar", "component react sidebar"},
		{reactApp, "a modal", "component react modal"},
		{reactApp, "Create a dark mode toggle button", "component react dark-mode-toggle-button"},
		{reactApp, "create a Navbar component in Vue", "component vue navbar"},
		{reactApp, "create a svelte component for the user menu", "component svelte user-menu"},
		{reactApp, "in TypeScript: create a component Badge", "component react badge ts"},
		{reactApp, "write a tsx component StatusBadge", "component react status-badge ts"},
		{vueApp, "create a StatusBadge component", "component vue status-badge ts"},
		{vueApp, "create a StatusBadge component in javascript", "component vue status-badge"},
		{staticApp, "create a header partial", "component static header"},
		{staticApp, "a footer", "component static footer"},
		{reactApp, "build a reusable Card component with title and image", "component react card title:text image:text"},
		{reactApp, "create a product_card widget", "component react product-card"},
		{reactApp, "Generate a React component named TodoItem", "component react todo-item"},
		{reactApp, "create Header, Footer and Sidebar components", "component react header; component react footer; component react sidebar"},
		{reactApp, "create components PriceTag, PriceList and StarRating", "component react price-tag; list react price; component react star-rating"},
		{reactApp, "create a search bar component", "component react search-bar"},
		{reactApp, "create café menu component", "component react café-menu"},
		{reactApp, "scaffold a widget for weather", "component react weather"},
		{reactApp, "new component: Tooltip", "component react tooltip"},
		{reactApp, "CREATE A NAVBAR COMPONENT", "component react navbar"},
		{reactApp, "can you create a breadcrumb?", "component react breadcrumb"},

		// Pages.
		{reactApp, "create a contact page", "page react contact"},
		{reactApp, "make an about us page", "page react about-us"},
		{reactApp, "I'd like a page for pricing", "page react pricing"},
		{reactApp, "a page about our team", "page react team"},
		{reactApp, "create a dashboard", "page react dashboard"},
		{reactApp, "create a 404 page", "page react 404"},
		{reactApp, "add a contact page to the site", "page react contact"},
		{reactApp, "add a pricing page to my app in next.js", "page nextjs pricing"},
		{reactApp, "create a product page", "page react product"},
		{reactApp, "add a route for settings", "page react settings"},
		{reactApp, "create a /blog/archive route", "page react archive"},
		{monorepo, "create a settings page", "page nextjs settings ts"},
		{reactApp, "create pages for about, contact and pricing", "page react about; page react contact; page react pricing"},
		{reactApp, "create pages: about, contact, pricing", "page react about; page react contact; page react pricing"},
		{reactApp, "create about and contact pages", "page react about; page react contact"},
		{reactApp, "create a terms and conditions page", "page react terms-and-conditions"},
		{reactApp, "create an express checkout page", "page react express-checkout"},
		{reactApp, "create a next steps page", "page react next-steps"},
		{reactApp, "create a test page", "page react test"},
		{reactApp, "a store page", "page react store"},
		{reactApp, "create a users list page", "page react users"},
		{reactApp, "please make a pgae about shipping", "page react shipping"},
		{staticApp, "create an about page", "page static about"},
		{reactApp, "create a plain html page about cats", "page static cats"},
		{reactApp, "a static page for opening hours", "page static opening-hours"},
		{expressApp, "create a page called status", "page express status"},

		// Endpoints.
		{expressApp, "create an endpoint for products", "endpoint express products"},
		{expressApp, "create a REST API for blog posts", "endpoint express blog-posts"},
		{expressApp, "create a CRUD API for orders with customer, total and paid", "endpoint express orders customer:text total:number paid:text"},
		{expressApp, "add a GET /users endpoint", "endpoint express users GET"},
		{expressApp, "add a post endpoint for comments", "endpoint express comments POST"},
		{expressApp, "an endpoint to list and delete users", "endpoint express users GET,DELETE"},
		{expressApp, "an endpoint for creating invoices", "endpoint express invoices POST"},
		{expressApp, "an endpoint that returns products", "endpoint express products GET"},
		{expressApp, "create GET and POST endpoints for tasks", "endpoint express tasks GET,POST"},
		{expressApp, "create a route for users", "endpoint express users"},
		{expressApp, "create routes for /api/cars", "endpoint express cars"},
		{expressApp, "create an api endpoint /api/v1/customers/:id", "endpoint express customers"},
		{expressApp, "products endpoint with name (text), price (number) and in stock (boolean)", "endpoint express products name:text price:number in-stock:boolean?"},
		{goApp, "create a handler for orders", "endpoint go orders"},
		{goApp, "add an endpoint for products with name:string and price:float", "endpoint go products name:text price:number"},
		{reactApp, "create an express endpoint for users", "endpoint express users"},
		{reactApp, "create a go endpoint for users", "endpoint go users"},
		{reactApp, "create an endpoint for users in Go", "endpoint go users"},
		{reactApp, "create a golang api for users", "endpoint go users"},
		{monorepo, "create an API route for newsletter subscriptions", "endpoint nextjs newsletter-subscriptions ts"},
		{expressApp, "create users, posts and comments endpoints", "endpoint express users; endpoint express posts; endpoint express comments"},
		{expressApp, "create endpoints for users and orders", "endpoint express users; endpoint express orders"},

		// Forms.
		{reactApp, "a signup form with email, password and newsletter checkbox", "form react signup email:email password:password newsletter:boolean?"},
		{reactApp, "create a contact form with name, email and message", "form react contact name:text email:email message:longtext"},
		{reactApp, "create a login form", "form react login"},
		{reactApp, "a login form component", "form react login"},
		{reactApp, "create a component for a login form", "form react login"},
		{reactApp, "create UserForm component", "form react user"},
		{reactApp, "build a form with email and password", "form react login email:email password:password"},
		{reactApp, "build a form with name and phone number", "form react contact name:text phone-number:tel"},
		{reactApp, "booking form with first name, last name, date of birth, number of guests and optional comment",
			"form react booking first-name:text last-name:text date-of-birth:date number-of-guests:number comment:longtext?"},
		{reactApp, "a feedback form with fields: rating (number), comment, email?", "form react feedback rating:number comment:longtext email:email?"},
		{reactApp, "a job application form having full name, website, salary and start date", "form react job-application full-name:text website:url salary:number start-date:date"},
		{reactApp, "Create a registration form with:\n- username\n- email\n- password\n- accept terms (checkbox)", "form react registration username:text email:email password:password accept-terms:boolean?"},
		{reactApp, "Create a survey form. It should have age, email and a comment.", "form react survey age:number email:email comment:longtext"},
		{reactApp, "Create a profile form.\nFields: nickname, birthday, bio", "form react profile nickname:text birthday:date bio:longtext"},
		{reactApp, "a newsletter form in Svelte with an email field", "form svelte newsletter email:email"},
		{reactApp, "a checkout form with street, city and zip code in Vue", "form vue checkout street:text city:text zip-code:text"},
		{reactApp, "form for name, email and message", "form react contact name:text email:email message:longtext"},
		{reactApp, "create a login", "form react login"},
		{staticApp, "create a contact form with name, email, message and validation", "form static contact name:text email:email message:longtext"},
		{reactApp, "event form with title: text, startsAt: datetime, isPublic: bool, seats: int", "form react event title:text starts-at:date is-public:boolean? seats:number"},
		{reactApp, "an address form with required street and optional phone", "form react address street:text phone:tel?"},
		{goApp, "a contact form with name and email", "form go contact name:text email:email"},
		{reactApp, "a form called QuickSearch with query", "form react quick-search query:text"},

		// Lists and tables.
		{reactApp, "a table of users with name, email and age", "table react users name:text email:email age:number"},
		{reactApp, "create a users table", "table react users"},
		{reactApp, "create a list of products", "list react products"},
		{reactApp, "a todo list", "list react todo"},
		{reactApp, "a TodoList component", "list react todo"},
		{reactApp, "a users table: name, email", "table react users name:text email:email"},
		{reactApp, "an invoice table with columns number, customer, amount and due date", "table react invoice number:number customer:text amount:number due-date:date"},
		{reactApp, "create a table component for orders", "table react orders"},
		{vueApp, "show me a table of orders", "-"},
		{vueApp, "a tabel of orders with id and total in React", "table react orders ts id:text total:number"},
		{staticApp, "list of opening hours with day and time", "list static opening-hours day:date time:text"},
		{reactApp, "create something that shows users in a table", "table react users"},

		// Utilities.
		{reactApp, "create a useLocalStorage hook", "utility/hook react local-storage"},
		{reactApp, "useDebounce", "utility/hook react debounce"},
		{reactApp, "a hook called useFetch", "utility/hook react fetch"},
		{reactApp, "create a hook to fetch users", "utility/hook react fetch-users"},
		{vueApp, "create a composable for dark mode", "utility/hook vue dark-mode ts"},
		{reactApp, "create a cart store", "utility/store react cart"},
		{reactApp, "create a helper that formats dates", "utility/helper react format-dates"},
		{reactApp, "write a function to slugify titles", "utility/helper react slugify-titles"},
		{reactApp, "an api client for orders", "utility/client react orders"},
		{reactApp, "create an api client", "utility/client react api"},
		{expressApp, "add a date utility", "utility express date"},
		{expressApp, "create a middleware for logging", "utility/hook express logging"},
		{goApp, "create a middleware for logging", "-"},
		{goApp, "write a helper for pagination", "utility/helper go pagination"},
		{empty, "create a useToggle hook", "utility/hook react toggle"},

		{reactApp, "create a component that displays a list of users", "list react users"},
		{reactApp, "a page that lists all orders", "page react orders"},
		{reactApp, "a component that shows the weather", "component react weather"},
		{reactApp, "a component which renders a user card", "component react user-card"},
		{reactApp, "a form for creating products", "form react products"},
		{reactApp, "create a UserProfileCard component that shows the user's name and email", "component react user-profile-card name:text email:email"},
		{reactApp, "create a zustand store for the cart", "utility/store react cart"},
		{vueApp, "a pinia store called useCartStore", "utility/store vue cart ts"},
		{reactApp, "create src/components/Chart.jsx", "component react chart"},
		{reactApp, "create a component in src/widgets/Chart.jsx", "component react chart"},

		// Tests.
		{reactApp, "a test for the Button component", "test react button of component /src/components/Button.jsx"},
		{reactApp, "write unit tests for UserCard", "test react user-card of component /src/components/UserCard.jsx"},
		{reactApp, "test the Button component", "test react button of component /src/components/Button.jsx"},
		{reactApp, "write a test for src/utils/date.js", "test/helper react date of utility /src/utils/date.js"},
		{reactApp, "tests for useAuth", "test/hook react auth of utility /src/hooks/useAuth.js"},
		{reactApp, "add tests to the Button component", "test react button of component /src/components/Button.jsx"},
		{reactApp, "Button tests", "test react button of component /src/components/Button.jsx"},
		{reactApp, "create a Dropdown component with tests", "component react dropdown; test react dropdown of component"},
		{reactApp, "create a Dropdown component and a test for it", "component react dropdown; test react dropdown of component"},
		{reactApp, "create a login form with email and password and tests", "form react login email:email password:password; test react login of form  email:email password:password"},
		{reactApp, "a test for the Missing component", "test react missing of component"},
		{reactApp, "write a test for index.jsx", "-"},
		{reactApp, "write a test for nowhere.js", "-"},
		{reactApp, "write a test", "-"},
		{withCurrent(reactApp, "/src/utils/date.js"), "generate tests for this file", "test/helper react date of utility /src/utils/date.js"},
		{withTurn(reactApp, "create_file /src/components/UserCard.jsx"), "now write a test for it", "test react user-card of component /src/components/UserCard.jsx"},
		{reactApp, "write unit tests for the date utility", "test react date of utility /src/utils/date.js"},
		{expressApp, "a test for the users endpoint", "test express users of endpoint /src/routes/users.js"},
		{goApp, "write a test for handlers/users.go", "test go users of endpoint /handlers/users.go"},

		// Several things.
		{reactApp, "create a Navbar component and a contact page", "component react navbar; page react contact"},
		{reactApp, "Create:\n- a Navbar component\n- a contact page\n- a useTheme hook", "component react navbar; page react contact; utility/hook react theme"},
		{reactApp, "1. a login form with email and password\n2. a dashboard page\n3. add axios@^1.7", "form react login email:email password:password; page react dashboard; add /package.json axios@^1.7"},
		{reactApp, "create a login form with email and password and a profile page", "form react login email:email password:password; page react profile"},
		{reactApp, "create a table of users with name and email, a users page and a useUsers hook", "table react users name:text email:email; page react users; utility/hook react users"},
		{reactApp, "Create a contact page. Then create a Footer component.", "page react contact; component react footer"},
		{reactApp, "delete src/old.js and create a page called news", "page react news; delete /src/old.js"},
		{reactApp, "a navbar, a footer and a hero", "component react navbar; component react footer; component react hero"},
		{reactApp, "create a page with a contact form", "page react contact; form react contact"},
	} {
		f := test.project
		f.Prompt = test.prompt
		if got := outline(f); got != test.want {
			t.Errorf("%q\n got  %s\n want %s", test.prompt, got, test.want)
		}
	}
}

func withTurn(f model.Facts, did ...string) model.Facts {
	f.Turns = []model.Turn{{User: "before", Actions: did}}
	return f
}

func withCurrent(f model.Facts, path string) model.Facts {
	f.CurrentFile = path
	return f
}
