import * as React from "react";
import { Command as Cmd } from "cmdk";
import { Search } from "lucide-react";
import { Dialog, DialogContent, DialogDescription, DialogTitle } from "@/components/ui/dialog";
import { styled } from "@/lib/styled";

export const Command = styled(Cmd, "flex h-full w-full flex-col overflow-hidden rounded-md bg-popover text-popover-foreground");

export function CommandDialog({
  children,
  ...props
}: {
  children: React.ReactNode;
  open: boolean;
  onOpenChange: (open: boolean) => void;
}) {
  return (
    <Dialog {...props}>
      <DialogContent className="overflow-hidden p-0">
        <DialogTitle className="sr-only">Search</DialogTitle>
        <DialogDescription className="sr-only">Jump to a page or a customer.</DialogDescription>
        <Command>{children}</Command>
      </DialogContent>
    </Dialog>
  );
}

export const CommandInput = (props: React.ComponentPropsWithoutRef<typeof Cmd.Input>) => (
  <div className="flex items-center gap-2 border-b px-3" cmdk-input-wrapper="">
    <Search className="size-4 shrink-0 opacity-50" />
    <Cmd.Input
      className="flex h-12 w-full bg-transparent text-sm outline-none placeholder:text-muted-foreground"
      {...props}
    />
  </div>
);

export const CommandList = styled(Cmd.List, "max-h-80 overflow-y-auto overflow-x-hidden");
export const CommandEmpty = styled(Cmd.Empty, "py-8 text-center text-sm text-muted-foreground");
export const CommandGroup = styled(
  Cmd.Group,
  "overflow-hidden p-1 [&_[cmdk-group-heading]]:px-2 [&_[cmdk-group-heading]]:py-1.5 [&_[cmdk-group-heading]]:text-xs [&_[cmdk-group-heading]]:font-medium [&_[cmdk-group-heading]]:text-muted-foreground",
);
export const CommandItem = styled(
  Cmd.Item,
  "flex cursor-default select-none items-center gap-2 rounded-sm px-2 py-2 text-sm outline-none data-[selected=true]:bg-accent data-[selected=true]:text-accent-foreground [&_svg]:size-4",
);
