package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"devplatform/infra/bench/rig"
)

// packages are the packages of a usual generated project with many components, with their versions and one export of
// each.
var packages = []struct{ name, version, export string }{
	{"react", "^18.3.1", "createElement"},
	{"react-dom", "^18.3.1", "createPortal"},
	{"react-router-dom", "^6.26.2", "BrowserRouter"},
	{"@hookform/resolvers", "^3.9.0", "toNestErrors"},
	{"@radix-ui/react-accordion", "^1.2.0", "Root"},
	{"@radix-ui/react-alert-dialog", "^1.1.1", "Root"},
	{"@radix-ui/react-avatar", "^1.1.0", "Root"},
	{"@radix-ui/react-checkbox", "^1.1.1", "Root"},
	{"@radix-ui/react-dialog", "^1.1.2", "Root"},
	{"@radix-ui/react-dropdown-menu", "^2.1.1", "Root"},
	{"@radix-ui/react-label", "^2.1.0", "Root"},
	{"@radix-ui/react-popover", "^1.1.1", "Root"},
	{"@radix-ui/react-progress", "^1.1.0", "Root"},
	{"@radix-ui/react-scroll-area", "^1.1.0", "Root"},
	{"@radix-ui/react-select", "^2.1.1", "Root"},
	{"@radix-ui/react-slider", "^1.2.0", "Root"},
	{"@radix-ui/react-switch", "^1.1.0", "Root"},
	{"@radix-ui/react-tabs", "^1.1.0", "Root"},
	{"@radix-ui/react-toast", "^1.2.1", "Root"},
	{"@radix-ui/react-tooltip", "^1.1.4", "Root"},
	{"@tanstack/react-query", "^5.56.2", "QueryClient"},
	{"class-variance-authority", "^0.7.1", "cva"},
	{"clsx", "^2.1.1", "clsx"},
	{"cmdk", "^1.0.0", "Command"},
	{"date-fns", "^3.6.0", "format"},
	{"lucide-react", "^0.462.0", "Menu"},
	{"react-hook-form", "^7.53.0", "useForm"},
	{"recharts", "^2.12.7", "LineChart"},
	{"sonner", "^1.5.0", "Toaster"},
	{"tailwind-merge", "^2.5.2", "twMerge"},
	{"vaul", "^0.9.3", "Drawer"},
	{"zod", "^3.23.8", "z"},
}

// fillPackages saves the files of a project that uses the packages.
func fillPackages(account *rig.Client, project string) error {
	dependencies := map[string]string{}
	var imports, names strings.Builder
	for i, p := range packages {
		dependencies[p.name] = p.version
		fmt.Fprintf(&imports, "import { %s as x%d } from %q;\n", p.export, i, p.name)
		fmt.Fprintf(&names, "x%d, ", i)
	}
	manifest, err := json.Marshal(map[string]any{"type": "module", "dependencies": dependencies})
	if err != nil {
		return fmt.Errorf("encode package.json: %w", err)
	}
	for path, content := range map[string]string{
		"/package.json": string(manifest),
		"/index.html":   `<div id="root"></div><script type="module" src="/src/main.tsx"></script>`,
		"/src/main.tsx": imports.String() + "console.log(" + names.String() + ");\n",
	} {
		err := account.Post("/api/projects/"+project+"/files", rig.Object{"path": path, "content": content})
		if err != nil {
			return err
		}
	}
	return nil
}
