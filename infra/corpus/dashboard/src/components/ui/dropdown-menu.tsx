import * as D from "@radix-ui/react-dropdown-menu";
import { Check } from "lucide-react";
import { floating, menuItem, styled } from "@/lib/styled";
import { cn } from "@/lib/utils";

export const DropdownMenu = D.Root;
export const DropdownMenuTrigger = D.Trigger;
export const DropdownMenuGroup = D.Group;
const Content = styled(D.Content, `${floating} min-w-[9rem] p-1`);

export const DropdownMenuContent = ({ sideOffset = 6, ...props }: D.DropdownMenuContentProps) => (
  <D.Portal>
    <Content sideOffset={sideOffset} {...props} />
  </D.Portal>
);

export const DropdownMenuItem = styled(D.Item, menuItem);
export const DropdownMenuLabel = styled(D.Label, "px-2 py-1.5 text-sm font-semibold");
export const DropdownMenuSeparator = styled(D.Separator, "-mx-1 my-1 h-px bg-border");

export const DropdownMenuCheckboxItem = ({ className, children, ...props }: D.DropdownMenuCheckboxItemProps) => (
  <D.CheckboxItem className={cn(menuItem, "pl-8", className)} {...props}>
    <D.ItemIndicator className="absolute left-2">
      <Check className="size-4" />
    </D.ItemIndicator>
    {children}
  </D.CheckboxItem>
);
