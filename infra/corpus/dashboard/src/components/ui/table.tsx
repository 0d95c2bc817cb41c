import * as React from "react";
import { styled } from "@/lib/styled";
import { cn } from "@/lib/utils";

export const Table = ({ className, ...props }: React.TableHTMLAttributes<HTMLTableElement>) => (
  <div className="relative w-full overflow-auto">
    <table className={cn("w-full caption-bottom text-sm", className)} {...props} />
  </div>
);
export const TableHeader = styled("thead", "[&_tr]:border-b");
export const TableBody = styled("tbody", "[&_tr:last-child]:border-0");
export const TableRow = styled("tr", "border-b transition-colors hover:bg-muted/50 data-[state=selected]:bg-muted");
export const TableHead = styled("th", "h-11 px-2 text-left sm:px-4 align-middle text-xs font-medium text-muted-foreground");
export const TableCell = styled("td", "px-2 py-3 align-middle sm:p-4");
