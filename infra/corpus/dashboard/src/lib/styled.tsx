import * as React from "react";
import { cn } from "@/lib/utils";

/** Returns the component with classes that its className may override. */
export function styled<C extends React.ElementType>(Component: C, classes: string, name?: string) {
  const Inner = Component as React.ElementType;
  const Styled = React.forwardRef<unknown, { className?: string }>(({ className, ...props }, ref) => (
    <Inner ref={ref} className={cn(classes, className)} {...props} />
  ));
  Styled.displayName = name ?? (typeof Component === "string" ? Component : (Component as { displayName?: string }).displayName);
  return Styled as unknown as React.ForwardRefExoticComponent<React.ComponentPropsWithRef<C>>;
}

/** The animation that all floating panels share. */
export const floating =
  "z-50 rounded-md border bg-popover text-popover-foreground shadow-md outline-none " +
  "data-[state=open]:animate-in data-[state=closed]:animate-out data-[state=closed]:fade-out-0 data-[state=open]:fade-in-0 " +
  "data-[state=closed]:zoom-out-95 data-[state=open]:zoom-in-95 data-[side=bottom]:slide-in-from-top-2 " +
  "data-[side=left]:slide-in-from-right-2 data-[side=right]:slide-in-from-left-2 data-[side=top]:slide-in-from-bottom-2";

export const menuItem =
  "relative flex cursor-default select-none items-center gap-2 rounded-sm px-2 py-1.5 text-sm outline-none " +
  "focus:bg-accent focus:text-accent-foreground data-[disabled]:pointer-events-none data-[disabled]:opacity-50 [&>svg]:size-4";

export const overlay =
  "fixed inset-0 z-50 bg-black/60 backdrop-blur-[2px] data-[state=open]:animate-in data-[state=closed]:animate-out " +
  "data-[state=closed]:fade-out-0 data-[state=open]:fade-in-0";
