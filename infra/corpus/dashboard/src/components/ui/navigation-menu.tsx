import * as N from "@radix-ui/react-navigation-menu";
import { cva } from "class-variance-authority";
import { styled } from "@/lib/styled";

export const NavigationMenu = styled(N.Root, "relative flex max-w-max flex-1 items-center justify-center");
export const NavigationMenuList = styled(N.List, "group flex flex-1 list-none items-center justify-center gap-1");
export const NavigationMenuItem = N.Item;
export const NavigationMenuLink = N.Link;
export const navigationMenuTriggerStyle = cva(
  "inline-flex h-9 w-max items-center rounded-md px-3 text-sm font-medium text-muted-foreground transition-colors hover:bg-accent hover:text-accent-foreground data-[active]:text-foreground",
);
