import { Scene } from 'phaser';

export class Boot extends Scene
{
    constructor ()
    {
        super('Boot');
    }

    preload ()
    {
        this.load.setPath('assets');
        this.load.svg('apple', 'apple.svg');
        this.load.svg('basket', 'basket.svg');
        this.load.svg('stone', 'stone.svg');
    }

    create ()
    {
        this.registry.set('best', 0);
        this.scene.start('Orchard');
    }
}
