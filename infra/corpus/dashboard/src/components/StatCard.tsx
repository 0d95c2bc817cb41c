import { ArrowDownRight, ArrowUpRight, type LucideIcon } from "lucide-react";
import { Card, CardContent } from "@/components/ui/card";
import { cn } from "@/lib/utils";

interface StatCardProps {
  label: string;
  value: string;
  change: number;
  icon: LucideIcon;
}

export function StatCard({ label, value, change, icon: Icon }: StatCardProps) {
  const rising = change >= 0;
  const Arrow = rising ? ArrowUpRight : ArrowDownRight;
  return (
    <Card>
      <CardContent className="p-4 sm:p-5">
        <div className="flex items-center justify-between text-sm text-muted-foreground">
          {label}
          <Icon className="size-4 text-primary" />
        </div>
        <p className="stat-value mt-2 text-2xl font-semibold tracking-tight">{value}</p>
        <p className={cn("mt-1 flex items-center gap-1 text-xs font-medium", rising ? "text-success" : "text-destructive")}>
          <Arrow className="size-3.5" />
          {Math.abs(change)} % <span className="hidden font-normal text-muted-foreground sm:inline">since last month</span>
        </p>
      </CardContent>
    </Card>
  );
}
