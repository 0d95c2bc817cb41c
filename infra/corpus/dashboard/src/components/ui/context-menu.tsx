import * as C from "@radix-ui/react-context-menu";
import { floating, menuItem, styled } from "@/lib/styled";

export const ContextMenu = C.Root;
export const ContextMenuTrigger = C.Trigger;
const Content = styled(C.Content, `${floating} min-w-[9rem] p-1`);

export const ContextMenuContent = (props: C.ContextMenuContentProps) => (
  <C.Portal>
    <Content {...props} />
  </C.Portal>
);

export const ContextMenuItem = styled(C.Item, menuItem);
export const ContextMenuSeparator = styled(C.Separator, "-mx-1 my-1 h-px bg-border");
