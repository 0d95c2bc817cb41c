import { Slot } from "@radix-ui/react-slot";
import { ChevronRight } from "lucide-react";
import * as React from "react";
import { styled } from "@/lib/styled";

export const Breadcrumb = (props: React.ComponentPropsWithoutRef<"nav">) => <nav aria-label="breadcrumb" {...props} />;
export const BreadcrumbList = styled("ol", "flex flex-wrap items-center gap-1.5 text-sm text-muted-foreground");
export const BreadcrumbItem = styled("li", "inline-flex items-center gap-1.5");
export const BreadcrumbPage = styled("span", "font-normal text-foreground");

export function BreadcrumbLink({ asChild, ...props }: React.ComponentPropsWithoutRef<"a"> & { asChild?: boolean }) {
  const Comp = asChild ? Slot : "a";
  return <Comp className="transition-colors hover:text-foreground" {...props} />;
}

export const BreadcrumbSeparator = () => (
  <li role="presentation" aria-hidden="true" className="[&>svg]:size-3.5">
    <ChevronRight />
  </li>
);
