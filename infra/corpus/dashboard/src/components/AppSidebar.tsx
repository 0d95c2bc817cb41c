import { CircleHelp, LayoutDashboard, ReceiptText, Settings, Users } from "lucide-react";
import { NavLink } from "react-router-dom";
import { Progress } from "@/components/ui/progress";
import { cn } from "@/lib/utils";

export const links = [
  { to: "/", label: "Overview", icon: LayoutDashboard },
  { to: "/orders", label: "Orders", icon: ReceiptText },
  { to: "/customers", label: "Customers", icon: Users },
  { to: "/settings", label: "Settings", icon: Settings },
  { to: "/help", label: "Help", icon: CircleHelp },
];

export function AppSidebar({ onNavigate }: { onNavigate?: () => void }) {
  return (
    <div className="flex h-full flex-col p-4">
      <div className="flex items-center gap-2.5 px-2 pb-6 pt-1">
        <img src="/favicon.svg" alt="" className="size-8" />
        <span className="text-lg font-semibold tracking-tight">Tidewater</span>
      </div>
      <nav className="grid gap-1">
        {links.map(({ to, label, icon: Icon }) => (
          <NavLink
            key={to}
            to={to}
            end={to === "/"}
            onClick={onNavigate}
            className={({ isActive }) =>
              cn(
                "flex items-center gap-3 rounded-md px-3 py-2 text-sm font-medium text-muted-foreground transition-colors hover:bg-accent hover:text-accent-foreground",
                isActive && "bg-accent text-accent-foreground",
              )
            }
          >
            <Icon className="size-4" />
            {label}
          </NavLink>
        ))}
      </nav>
      <div className="mt-auto rounded-lg border bg-background p-4">
        <p className="text-sm font-medium">Trial ends in 9 days</p>
        <p className="mb-3 mt-1 text-xs text-muted-foreground">You have used 612 of 1,000 orders.</p>
        <Progress value={61} />
      </div>
    </div>
  );
}
