import * as M from "@radix-ui/react-menubar";
import { floating, menuItem, styled } from "@/lib/styled";

export const Menubar = styled(M.Root, "flex h-10 items-center gap-1 rounded-md border bg-background p-1");
export const MenubarMenu = M.Menu;
export const MenubarTrigger = styled(
  M.Trigger,
  "flex cursor-default select-none items-center rounded-sm px-3 py-1.5 text-sm font-medium outline-none focus:bg-accent data-[state=open]:bg-accent",
);
const Content = styled(M.Content, `${floating} min-w-[12rem] p-1`);

export const MenubarContent = (props: M.MenubarContentProps) => (
  <M.Portal>
    <Content align="start" sideOffset={8} {...props} />
  </M.Portal>
);

export const MenubarItem = styled(M.Item, menuItem);
export const MenubarSeparator = styled(M.Separator, "-mx-1 my-1 h-px bg-border");
